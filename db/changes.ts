import pg from 'pg'
import type { ConnectionOptions } from './connection.ts'

/** A row of a cached table changed; `id` is its key as text. */
export type Change = { table: string; id: string }

export type Changes = {
  onChange: (listener: (change: Change) => void) => void
  /** The connection was lost: notices were missed and everything cached may be stale. */
  onGap: (listener: () => void) => void
  /** Runs on the session that listens; session locks taken here live as long as this process is connected. */
  query: (text: string, values?: unknown[]) => Promise<pg.QueryResult>
  /** Called after each reconnection, before `onGap`, to take session locks again. */
  onConnected: (listener: () => Promise<void>) => void
  close: () => Promise<void>
}

/** Listens for row changes on a connection of its own and comes back by itself when it is lost. */
export async function listenForChanges(
  connection: ConnectionOptions,
  onError: (error: unknown) => void,
): Promise<Changes> {
  const changeListeners: ((change: Change) => void)[] = []
  const gapListeners: (() => void)[] = []
  const connectedListeners: (() => Promise<void>)[] = []
  let closed = false
  let client = await open()

  async function open(): Promise<pg.Client> {
    const next = new pg.Client({ ...connection, keepAlive: true })
    next.on('error', (error) => {
      onError(error)
      void reconnect(next)
    })
    next.on('end', () => void reconnect(next))
    next.on('notification', ({ payload }) => {
      const split = payload?.indexOf(':') ?? -1
      if (!payload || split < 0) return
      const change = { table: payload.slice(0, split), id: payload.slice(split + 1) }
      for (const listener of changeListeners) listener(change)
    })
    await next.connect()
    await next.query('listen changes')
    return next
  }

  async function reconnect(lost: pg.Client): Promise<void> {
    if (closed || lost !== client) return
    // From here on the lost client's further events are not ours any more.
    client = new pg.Client()
    for (let pause = 50; !closed; pause = Math.min(pause * 2, 2000)) {
      try {
        client = await open()
        for (const listener of connectedListeners) await listener()
        for (const listener of gapListeners) listener()
        return
      } catch (error) {
        onError(error)
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
    }
  }

  return {
    onChange: (listener) => void changeListeners.push(listener),
    onGap: (listener) => void gapListeners.push(listener),
    onConnected: (listener) => void connectedListeners.push(listener),
    query: (text, values) => client.query(text, values),
    close: async () => {
      closed = true
      await client.end().catch(() => {})
    },
  }
}
