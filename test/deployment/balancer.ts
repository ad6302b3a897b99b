import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request as ask, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

// A process of its own in front of a console node and relay nodes, as the Caddyfile says it: its paths to those relay nodes that are
// ready, everything else to the console, and a node that cannot be reached leaves the call to the next. It was given a port, the
// console's address and the relays'.
const [port = '0', consoleUrl = '', ...relayUrls] = process.argv.slice(2)

const caddyfile = readFileSync(new URL('../../Caddyfile', import.meta.url), 'utf8')
const patterns = (/@relay path (.*)/.exec(caddyfile)?.[1] ?? '').split(' ')
const isRelays = (path: string): boolean =>
  patterns.some((pattern) => (pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern))

const ready = new Set<string>()
const watch = async (url: string): Promise<void> => {
  const reply = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null)
  await reply?.body?.cancel()
  if (reply?.status === 200) ready.add(url)
  else ready.delete(url)
  setTimeout(() => void watch(url), 100)
}
for (const url of relayUrls) void watch(url)

let turn = 0

/** Ready ones first, each time another; those that were not a moment ago may be by now. */
function nodesFor(path: string): string[] {
  if (!isRelays(path)) return [consoleUrl]
  turn += 1
  const first = relayUrls.map((_, index) => relayUrls[(index + turn) % relayUrls.length] ?? '')
  return [...first.filter((url) => ready.has(url)), ...first.filter((url) => !ready.has(url))]
}

async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(incoming)
  const [path = '/'] = (incoming.url ?? '/').split('?')
  const headers = { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress, 'x-forwarded-proto': 'http' }
  const tryNodes = ([node, ...others]: string[]): void => {
    if (node === undefined) return void response.writeHead(502).end('no node answers')
    // Each on a connection of its own: what could not be connected has certainly not begun.
    const call = ask(node + (incoming.url ?? '/'), { method: incoming.method, headers, agent: false }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
      reply.on('error', () => response.destroy())
    })
    call.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') tryNodes(others)
      else if (response.headersSent) response.destroy()
      else response.writeHead(502).end(error.message)
    })
    response.on('close', () => call.destroy())
    call.end(body)
  }
  tryNodes(nodesFor(path))
}

// Longer than its clients keep a connection: closed after Node's five seconds, it may be closed while a call is on its way.
const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, response) => void forward(incoming, response))
server.listen(Number(port), '127.0.0.1', () => {
  process.stdout.write('listening\n')
})
