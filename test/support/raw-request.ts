import { connect, type Socket } from 'node:net'

/** A request whose sender decides byte by byte what it sends and when. */
export type RawRequest = {
  socket: Socket
  send: (bytes: string | Uint8Array) => void
  /** Everything that came back so far. */
  received: () => string
  /** Resolves with the status once there is one. A connection that ends without one is status 0. */
  status: Promise<number>
  closed: Promise<void>
}

type Head = { method?: string; path: string; headers?: Record<string, string | number> }

export async function sendHead(url: string, { method = 'POST', path, headers = {} }: Head): Promise<RawRequest> {
  const { hostname, port } = new URL(url)
  // Without it the system holds small pieces back until those before them are acknowledged.
  const socket = connect({ port: Number(port), host: hostname, noDelay: true })
  const status = Promise.withResolvers<number>()
  const closed = Promise.withResolvers<void>()
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const found = /^HTTP\/1\.1 (\d+)[^]*\r\n\r\n/.exec(text.replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, ''))
    if (found) status.resolve(Number(found[1]))
  })
  socket.on('close', () => {
    status.resolve(0)
    closed.resolve()
  })
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
  const lines = Object.entries({ host: 'x', 'content-type': 'application/json', ...headers })
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  return {
    socket,
    send: (bytes) => void (socket.writable && socket.write(bytes)),
    received: () => text,
    status: status.promise,
    closed: closed.promise,
  }
}
