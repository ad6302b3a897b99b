import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { checkedProxy } from './dispatchers.ts'
import { greetSocks5 } from './socks5.ts'
import { TransportError } from './transport-error.ts'

type Place = { host: string; port: number; secure: boolean }
type Ways = { lookup: LookupFunction; signal: AbortSignal }

const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/** Where an address leads. */
export const placeOf = (url: URL, secure: boolean): Place => ({
  host: bareHost(url),
  port: Number(url.port) || (secure ? 443 : 80),
  secure,
})

async function established<Connection extends Socket>(
  socket: Connection,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Connection> {
  try {
    await once(socket, event, { signal })
    return socket
  } catch (error) {
    socket.on('error', () => {}).destroy()
    throw error
  }
}

const overTls = (socket: Socket, host: string, signal: AbortSignal): Promise<Socket> =>
  established(
    connectTls({ socket, ALPNProtocols: ['http/1.1'], ...(isIP(host) === 0 ? { servername: host } : { host }) }),
    'secureConnect',
    signal,
  )

async function connectDirectly({ host, port, secure }: Place, { lookup, signal }: Ways): Promise<Socket> {
  const socket = await established(connect({ host, port, lookup, noDelay: true }), 'connect', signal)
  return secure ? overTls(socket, host, signal) : socket
}

const basic = ({ username, password }: URL): Record<string, string> => {
  if (username === '') return {}
  const words = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  return { 'proxy-authorization': `Basic ${words.toString('base64')}` }
}

/** A tunnel through an http proxy, for plain targets too: what follows is no http request. */
async function tunnel(socket: Socket, proxy: URL, { target, signal }: { target: Place; signal: AbortSignal }) {
  const host = target.host.includes(':') ? `[${target.host}]` : target.host
  const path = `${host}:${target.port}`
  const asking = httpRequest({
    method: 'CONNECT',
    path,
    headers: { host: path, ...basic(proxy) },
    createConnection: () => socket,
  })
  // Who stops waiting ends the connection, and nobody listens for what it says to that.
  asking.on('error', () => {}).end()
  const [reply] = (await once(asking, 'connect', { signal })) as [IncomingMessage]
  if (reply.statusCode !== 200)
    throw new TransportError('connect', { message: `the proxy answered ${reply.statusCode}` })
}

async function connectThrough(address: string, target: Place, ways: Ways): Promise<Socket> {
  const proxy = new URL(checkedProxy(address))
  const isSocks = proxy.protocol.startsWith('socks')
  const place = { ...placeOf(proxy, proxy.protocol === 'https:') }
  if (isSocks && proxy.port === '') place.port = 1080
  const socket = await connectDirectly(place, ways)
  const { signal } = ways
  try {
    if (isSocks) {
      const [username, password] = [decodeURIComponent(proxy.username), decodeURIComponent(proxy.password)]
      await greetSocks5(socket, { ...target, username, password }, signal)
    } else await tunnel(socket, proxy, { target, signal })
    return target.secure ? await overTls(socket, target.host, signal) : socket
  } catch (error) {
    socket.on('error', () => {}).destroy()
    throw error
  }
}

/** A connection of its own to an upstream, directly or through an http, https or socks5 proxy. */
export const openConnection = (target: Place, proxy: string | undefined, ways: Ways): Promise<Socket> =>
  proxy ? connectThrough(proxy, target, ways) : connectDirectly(target, ways)
