import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { ConnectionOptions } from '#db/connection.ts'

type Pair = { ours: Socket; theirs: Socket }

/**
 * Stands between a node and its database, and lets a test take away the connection on which it receives changes alone:
 * those that queries run on stay.
 */
export async function startDatabaseProxy({ host, port = 5432, ...rest }: ConnectionOptions) {
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const listening = new Set<Pair>()
  const all = new Set<Socket>()
  let admitsListeners = true

  const server = createServer((ours) => {
    const theirs = connect(target)
    const pair = { ours, theirs }
    for (const socket of [ours, theirs]) {
      all.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        all.delete(socket)
        listening.delete(pair)
        ours.destroy()
        theirs.destroy()
      })
    }
    ours.on('data', (bytes) => {
      if (!bytes.includes('listen "changes"')) return
      listening.add(pair)
      if (!admitsListeners) ours.destroy()
    })
    ours.pipe(theirs)
    theirs.pipe(ours)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    connection: { ...rest, host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    /** The connection that receives changes breaks, and no new one comes about until `restore`. */
    cut: (): void => {
      admitsListeners = false
      for (const { ours } of listening) ours.destroy()
    },
    /** Nothing comes through on it any more in either direction, without a word; no new one comes about until `restore`. */
    silence: (): void => {
      admitsListeners = false
      for (const { ours, theirs } of listening) {
        ours.unpipe(theirs)
        theirs.unpipe(ours)
        for (const socket of [ours, theirs]) socket.pause()
      }
    },
    /** What is sent on it reaches the server, and what the server answers does not come through; no new one comes about until `restore`. */
    holdBack: (): void => {
      admitsListeners = false
      for (const { ours, theirs } of listening) {
        theirs.unpipe(ours)
        theirs.pause()
      }
    },
    restore: (): void => {
      admitsListeners = true
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of all) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
