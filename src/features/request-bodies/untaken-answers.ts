import type { Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** A caller that takes nothing for so long counts as gone. */
const longestStallMs = 120_000

/**
 * Gives up an answer of which nothing is taken any more; one that is taken slowly goes on. The timer of a connection knows: it
 * goes by what the system has taken of a write, which may be a complete answer. Returns what ends the watch.
 */
export function watchTaking(response: ServerResponse): () => void {
  const { socket } = response
  // The answer to a message of a WebSocket has no connection of its own.
  if (!(socket instanceof Socket)) {
    const timeout = setTimeout(() => response.destroy(), longestStallMs)
    return () => clearTimeout(timeout)
  }
  const watched = socket.setTimeout(longestStallMs).timeout
  return () => {
    // How long a connection may be kept, or the watch over the next answer, may have taken its place.
    if (socket.timeout === watched && socket.writableLength === 0) socket.setTimeout(0)
  }
}

/** An answer that has ended stays in memory until it is taken, and so does the body that it is for. */
export function endUntakenAnswers(server: Server): void {
  server.on('request', (_request, response) => {
    response.once('prefinish', () => {
      if (response.socket && response.socket.writableLength > 0) response.once('finish', watchTaking(response))
    })
  })
}
