import { createServer, type IncomingMessage } from 'node:http'
import { afterAll } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { listenLocally } from '#test/support/local-server.ts'

/** An upstream of realtime sessions, each of which is served as the test wants. It ends with the tests of the file. */
export async function startScriptedUpstream(serve: (socket: WebSocket, request: IncomingMessage) => void) {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', serve)
  const upstream = await listenLocally(server)
  afterAll(async () => {
    for (const socket of sockets.clients) socket.terminate()
    await upstream[Symbol.asyncDispose]()
  })
  return { baseUrl: upstream.url, sessions: sockets.clients }
}
