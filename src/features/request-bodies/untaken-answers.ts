import type { Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** A caller that takes nothing for so long counts as gone. */
const longestStallMs = 120_000

/**
 * Gives up an answer of which nothing is taken any more, with its connection and the body that it is for; one that is taken
 * slowly goes on. The timer of a connection knows: it goes by what the system has taken of a write, whoever made it and
 * whether or not it was the last. It looks each two minutes whether something was taken since the look before, so that an answer of
 * which a part of the last write was taken ends within four.
 */
export function endUntakenAnswers(server: Server): void {
  server.timeout = longestStallMs
  server.on('request', (_request, response) => response.on('timeout', endIfUntaken))
}

/** An answer that is still worked at is waited for; where nobody listened, its connection would be ended as an idle one. */
function endIfUntaken(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy()
}

/**
 * The same for the answer to a message of a WebSocket, which has no connection of its own. Returns what ends the watch; any other
 * answer needs none.
 */
export function watchMessage(response: ServerResponse): () => void {
  if (response.socket instanceof Socket) return () => {}
  const timeout = setTimeout(() => response.destroy(), longestStallMs)
  return () => clearTimeout(timeout)
}
