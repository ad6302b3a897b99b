import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A reverse proxy of the usual kind: hands sockets and refusals on and appends who came to `x-forwarded-for`. */
export async function startReverseProxy(port: number, seenAs: string) {
  const server = createServer()
  server.on('upgrade', (incoming, outer, head) => {
    const before = incoming.headers['x-forwarded-for']
    const forwarded = before === undefined ? seenAs : `${String(before)}, ${seenAs}`
    const outgoing = httpRequest({
      port,
      host: '127.0.0.1',
      path: incoming.url,
      headers: { ...incoming.headers, 'x-forwarded-for': forwarded },
    })
    outer.on('error', () => outgoing.destroy())
    outgoing.on('error', () => outer.destroy())
    outgoing.on('upgrade', (reply, inner, first) => {
      const lines = Object.entries(reply.headers).map(([name, value]) => `${name}: ${String(value)}`)
      outer.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
      if (first.length > 0) outer.write(first)
      inner.on('error', () => outer.destroy())
      inner.on('close', () => outer.destroy())
      outer.on('close', () => inner.destroy())
      inner.pipe(outer).pipe(inner)
    })
    outgoing.on('response', (reply) => {
      outer.write(`HTTP/1.1 ${reply.statusCode} Refused\r\nconnection: close\r\n\r\n`)
      reply.pipe(outer)
    })
    outgoing.end(head)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
