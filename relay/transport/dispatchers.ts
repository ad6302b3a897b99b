import type { LookupFunction } from 'node:net'
import { LRUCache } from 'lru-cache'
import { buildConnector, Pool, ProxyAgent, Socks5ProxyAgent, type Dispatcher } from 'undici'
import { isLinkLocalHost } from './address.ts'
import { asTimerMs } from './limits.ts'
import { TransportError } from './transport-error.ts'

export type Route = { origin: string; proxy?: string | undefined; connectTimeoutMs: number }

export type DispatcherOptions = {
  lookup: LookupFunction
  /** Connections per origin. */
  connections: number
}

const proxyProtocols = new Set(['http:', 'https:', 'socks5:', 'socks:'])

/** @throws {TransportError} for an address no proxy may have. */
export function checkedProxy(address: string): string {
  // Names are always resolved by the proxy, which is what the `h` asks for.
  const url = URL.parse(address.replace(/^socks5h:/i, 'socks5:'))
  if (!url || !proxyProtocols.has(url.protocol))
    throw new TransportError('bad-url', { message: 'the proxy address is invalid' })
  if (isLinkLocalHost(url.hostname)) throw new TransportError('bad-url')
  return url.href
}

/** One connection pool per origin, connect limit and proxy, kept while it is among the last few hundred used. */
export function createDispatchers({ lookup, connections }: DispatcherOptions) {
  const closing = (dispatcher: Dispatcher) => void dispatcher.close().catch(() => dispatcher.destroy())
  const byOrigin = new LRUCache<string, Dispatcher>({ max: 500, dispose: closing, noDisposeOnSet: true })

  function create({ origin, proxy, connectTimeoutMs }: Route): Dispatcher {
    const timeout = asTimerMs(connectTimeoutMs)
    // The client's own limits are off: silences of many minutes are legal, and ours are counted by the exchange.
    const shared = { connections, headersTimeout: 0, bodyTimeout: 0, allowH2: false }
    if (!proxy) return new Pool(origin, { ...shared, connect: { timeout, lookup } })
    const address = checkedProxy(proxy)
    const connector = { timeout, lookup, allowH2: false } as buildConnector.BuildOptions
    // Without it the steps behind the proxy's connection have five seconds each, and TLS behind an http proxy ten.
    const limit = { connectTimeout: timeout }
    if (address.startsWith('socks'))
      return new Socks5ProxyAgent(address, { ...limit, connect: buildConnector(connector) })
    return new ProxyAgent({ ...shared, ...limit, uri: address, proxyTls: connector })
  }

  return {
    get(route: Route): Dispatcher {
      const key = route.proxy ? `${route.connectTimeoutMs} ${route.proxy}` : `${route.connectTimeoutMs} ${route.origin}`
      const known = byOrigin.get(key)
      if (known) return known
      const made = create(route)
      byOrigin.set(key, made)
      return made
    },
    /** Destroys every connection, those in use included. */
    close: async () => {
      const all = [...byOrigin.values()]
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()))
      byOrigin.clear()
    },
  }
}
