import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

type Connection = {
  answers: Set<ServerResponse>
  /** `performance.now()` when its last answer had ended, or when it was made. */
  idleSince: number
  /** What had come in by then: more is the beginning of a request. */
  readUntilThen: number
}

/** Whoever has waited for a connection uses it at once when it is free; what is idle for longer is left over. */
const idleMs = 1000
const lookEveryMs = 50

/**
 * Lets a server end without failing a request. A client that keeps its connection learns with its next answer that it is the
 * last one; one that sends nothing for a while finds its connection closed.
 */
export function createDrain(server: Server): { run: (windowMs: number) => Promise<void> } {
  const connections = new Map<Socket, Connection>()
  let draining = false

  const rest = (socket: Socket, connection: Connection): void => {
    connection.idleSince = performance.now()
    connection.readUntilThen = socket.bytesRead
  }
  server.on('connection', (socket: Socket) => {
    const connection = { answers: new Set<ServerResponse>(), idleSince: performance.now(), readUntilThen: 0 }
    connections.set(socket, connection)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    const connection = connections.get(socket)
    if (!connection) return
    if (draining) answer.shouldKeepAlive = false
    connection.answers.add(answer)
    answer.once('close', () => {
      connection.answers.delete(answer)
      rest(socket, connection)
    })
  })
  // A connection that became another protocol's is no longer ours to close.
  server.on('upgrade', ({ socket }: IncomingMessage) => connections.delete(socket))

  const isLeftOver = (socket: Socket, connection: Connection, leastIdleMs: number): boolean =>
    connections.has(socket) &&
    connection.answers.size === 0 &&
    socket.bytesRead === connection.readUntilThen &&
    performance.now() - connection.idleSince >= leastIdleMs

  const closeLeftOver = (leastIdleMs: number): void => {
    const candidates = [...connections].filter(([socket, connection]) => isLeftOver(socket, connection, leastIdleMs))
    // What came in while this process was busy is read first.
    setImmediate(() => {
      for (const [socket, connection] of candidates)
        if (isLeftOver(socket, connection, leastIdleMs)) socket.destroySoon()
    })
  }

  return {
    /** Serves on for the window, then takes no new connections. Resolves when the last one is closed. */
    run: async (windowMs) => {
      draining = true
      for (const { answers } of connections.values())
        for (const answer of answers) if (!answer.headersSent) answer.shouldKeepAlive = false
      await delay(windowMs)
      // Not the web server's own way to close, which ends idle connections without looking whether a request is on its way.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
      const leastIdleMs = Math.min(idleMs, windowMs)
      const look = setInterval(() => closeLeftOver(leastIdleMs), lookEveryMs)
      closeLeftOver(leastIdleMs)
      await closed
      clearInterval(look)
    },
  }
}
