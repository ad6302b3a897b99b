import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export const asksForSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

/** Whether a request asks for a socket where there is one; every other request is answered without. */
export function asksForRealtime(request: IncomingMessage): boolean {
  if (!asksForSocket(request)) return false
  const path = (request.url ?? '').split('?', 1)[0] ?? ''
  const plain = path.replace(/\/{2,}/g, '/').replace(/\/$/, '')
  return plain.endsWith('/v1/realtime') || plain.endsWith('/v1/responses')
}

/** What came right behind the head of a request that may become a socket. */
const heads = new WeakMap<IncomingMessage, Buffer>()

export const headOf = (request: IncomingMessage): Buffer | undefined => heads.get(request)

/**
 * Lets requests for sockets go the way of all others, so that they are checked and refused alike. Whoever accepts one takes
 * its connection out of the response.
 */
export function serveUpgrades(server: Server, app: RequestListener): void {
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    if (!asksForRealtime(request)) return
    const socket = stream as Socket
    // From here on nobody else listens, and a lost connection must not end the process.
    socket.on('error', () => {})
    socket.setNoDelay(true)
    heads.set(request, head)
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.on('finish', () => {
      response.detachSocket(socket)
      // Whoever waits for the end of a refused call waits for this.
      response.emit('close')
      socket.destroySoon()
    })
    app(request, response as ServerResponse & { req: IncomingMessage })
  })
}
