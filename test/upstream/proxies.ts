import { createServer as createHttpServer, request as httpRequest } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export type TestProxy = { port: number; seen: string[]; close: () => void }

async function listen(server: Server, seen: string[]): Promise<TestProxy> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, seen, close }
}

function join(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one)
  one.on('error', () => other.destroy())
  other.on('error', () => one.destroy())
  one.on('close', () => other.destroy())
  other.on('close', () => one.destroy())
}

/** An http proxy: forwards plain requests, tunnels on CONNECT, notes what it was asked for and by whom. */
export function startHttpProxy(): Promise<TestProxy> {
  const seen: string[] = []
  const server = createHttpServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url} ${incoming.headers['proxy-authorization'] ?? ''}`.trim())
    const { 'proxy-authorization': _, 'proxy-connection': __, ...headers } = incoming.headers
    const forwarded = httpRequest(incoming.url ?? '', { method: incoming.method ?? 'GET', headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
      reply.on('error', () => outgoing.destroy())
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  server.on('connect', (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url}`)
    const [host = '', port = ''] = (request.url ?? '').split(':')
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      join(socket, target)
    })
    target.on('error', () => socket.destroy())
  })
  return listen(server, seen)
}

/** A socks5 proxy without authentication, which answers a greeting when it may. */
export function startSocksProxy(mayAnswer: () => Promise<void> = async () => {}): Promise<TestProxy> {
  const seen: string[] = []
  const server = createServer((socket) => {
    socket.once('data', () => {
      void mayAnswer().then(() => socket.write(Buffer.from([5, 0])))
      socket.once('data', (ask) => {
        const isName = ask[3] === 3
        const end = isName ? 5 + (ask[4] ?? 0) : 8
        const host = isName ? ask.toString('latin1', 5, end) : [...ask.subarray(4, 8)].join('.')
        const port = ask.readUInt16BE(end)
        seen.push(`${host}:${port}`)
        const target = connect(port, host, () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
          join(socket, target)
        })
        target.on('error', () => socket.destroy())
      })
    })
  })
  return listen(server, seen)
}

/** Accepts connections and says nothing. */
export const startSilentServer = (): Promise<TestProxy> => listen(createServer(), [])
