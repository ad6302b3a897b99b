import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type ConnectionOptions, type TimedQuery, beginSession } from './connection.ts'

/** A row of a cached table changed; `id` is its key as text. */
type Change = { table: string; id: string }

export type Changes = {
  onChange: (listener: (change: Change) => void) => void
  /** The connection was lost: from now on notices are missed. */
  onLost: (listener: () => void) => void
  /** The connection was lost and is there again: notices were missed and everything cached may be stale. */
  onGap: (listener: () => void) => void
  /** Listens to one more channel of notices from now on, after reconnections too. */
  listen: (channel: string, onMessage: (text: string) => void) => Promise<void>
  /** Runs on the session that listens; session locks taken here live as long as this process is connected. */
  query: (text: string, values?: unknown[]) => Promise<pg.QueryResult>
  /** Called after each reconnection, after `onGap`, to take session locks again. */
  onConnected: (listener: () => void) => void
  close: () => Promise<void>
}

/** A connection can be lost without a word: it is asked so often, and lost when so many askings found no answer. */
const askEveryMs = 1000
const mostUnanswered = 3
const answerWithinMs = 5000

const changesChannel = 'changes'

/** Listens for row changes on a connection of its own and comes back by itself when it is lost. */
export async function listenForChanges(
  connection: ConnectionOptions,
  onError: (error: unknown) => void,
): Promise<Changes> {
  const changeListeners: ((change: Change) => void)[] = []
  const lostListeners: (() => void)[] = []
  const gapListeners: (() => void)[] = []
  const connectedListeners: (() => void)[] = []
  const others = new Map<string, (text: string) => void>()
  let closed = false

  const notify = ({ channel, payload }: pg.Notification): void => {
    if (channel !== changesChannel) return others.get(channel)?.(payload ?? '')
    const split = payload?.indexOf(':') ?? -1
    if (!payload || split < 0) return
    const change = { table: payload.slice(0, split), id: payload.slice(split + 1) }
    for (const listener of changeListeners) listener(change)
  }
  const notices = { connection, onError, notify, channels: () => [changesChannel, ...others.keys()] }
  let session = await openSession(notices)

  const keepListening = async (): Promise<void> => {
    while (!closed) {
      await session.lost
      if (!closed) for (const listener of lostListeners) listener()
      for (let pauseMs = 50; !closed; pauseMs = Math.min(pauseMs * 2, 1000)) {
        try {
          const former = session
          session = await openSession(notices)
          // Not before: for the server it may be there still, and its locks say that this process lives.
          former.end()
          for (const listener of [...gapListeners, ...connectedListeners]) listener()
          break
        } catch (error) {
          onError(error)
          await delay(pauseMs)
        }
      }
    }
    session.end()
  }
  const listening = keepListening()

  return {
    onChange: (listener) => void changeListeners.push(listener),
    onLost: (listener) => void lostListeners.push(listener),
    onGap: (listener) => void gapListeners.push(listener),
    onConnected: (listener) => void connectedListeners.push(listener),
    listen: async (channel, onMessage) => {
      others.set(channel, onMessage)
      await session.query(`listen ${pg.escapeIdentifier(channel)}`)
    },
    query: (text, values) => session.query(text, values),
    close: async () => {
      closed = true
      session.end()
      await listening
    },
  }
}

/** `ask` alone decides when it has waited for long enough. */
const askWhetherItLives: TimedQuery = { text: 'select 1', query_timeout: 600_000 }

type Session = {
  query: (text: string, values?: unknown[]) => Promise<pg.QueryResult>
  /** Resolves when the connection is no more. */
  lost: Promise<void>
  end: () => void
}

async function openSession({
  connection,
  onError,
  notify,
  channels,
}: {
  connection: ConnectionOptions
  onError: (error: unknown) => void
  notify: (notice: pg.Notification) => void
  channels: () => string[]
}): Promise<Session> {
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: connection.callMs ?? 5000,
    query_timeout: connection.callMs ?? answerWithinMs,
  })
  const { promise: lost, resolve } = Promise.withResolvers<void>()
  let isLost = false
  let asking: NodeJS.Timeout | undefined
  const lose = (): void => {
    isLost = true
    clearInterval(asking)
    resolve()
  }
  const end = (): void => {
    lose()
    client.end().catch(() => {})
  }
  const fail = (error: unknown): void => {
    if (isLost) return
    onError(error)
    lose()
  }
  // One statement after another: the driver will refuse those that come while one is under way.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (asked: pg.QueryConfig): Promise<pg.QueryResult> => {
    const answer = last.then(() => {
      if (isLost) throw new Error('the notice connection was lost')
      return client.query(asked)
    })
    last = answer.catch(() => {})
    return answer
  }
  // Counted in turns of the timer, not in time: while this process is held up itself, answers wait to be read.
  let unanswered = 0
  const ask = (): void => {
    unanswered += 1
    if (unanswered > mostUnanswered) return fail(new Error('the notice connection does not answer'))
    if (unanswered > 1) return
    inTurn(askWhetherItLives).then(() => (unanswered = 0), fail)
  }
  client.on('error', onError)
  client.on('end', end)
  // Whoever is taken for lost does not hear of every change.
  client.on('notification', (notice) => {
    if (!isLost) notify(notice)
  })
  try {
    await client.connect()
    await beginSession(client, [], connection.callMs)
    for (const channel of channels()) await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    if (!isLost) asking = setInterval(ask, askEveryMs)
  } catch (error) {
    end()
    throw error
  }
  return { query: (text, values = []) => inTurn({ text, values }), lost, end }
}
