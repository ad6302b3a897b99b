import type { LookupFunction } from 'node:net'
import { LRUCache } from 'lru-cache'
import { Pool, ProxyAgent, type Dispatcher } from 'undici'
import { isLinkLocal, isMetadataName, literalAddress } from './address.ts'
import { asTimerMs } from './limits.ts'
import { TransportError } from './transport-error.ts'

export type Route = { origin: string; proxy?: string | undefined; connectTimeoutMs: number }

export type DispatcherOptions = {
  lookup: LookupFunction
  /** Connections per origin. */
  connections: number
}

const proxyProtocols = new Set(['http:', 'https:', 'socks5:', 'socks:'])

function checkedProxy(address: string): string {
  const url = URL.parse(address)
  if (!url || !proxyProtocols.has(url.protocol))
    throw new TransportError('bad-url', { message: 'the proxy address is invalid' })
  const literal = literalAddress(url.hostname)
  if (isMetadataName(url.hostname) || (literal !== undefined && isLinkLocal(literal)))
    throw new TransportError('bad-url')
  return url.href
}

/** One connection pool per origin, connect limit and proxy, kept while it is among the last few hundred used. */
export function createDispatchers({ lookup, connections }: DispatcherOptions) {
  const closing = (dispatcher: Dispatcher) => void dispatcher.close().catch(() => dispatcher.destroy())
  const kept = new LRUCache<string, Dispatcher>({ max: 500, dispose: closing, noDisposeOnSet: true })

  function create({ origin, proxy, connectTimeoutMs }: Route): Dispatcher {
    const timeout = asTimerMs(connectTimeoutMs)
    // The client's own limits are off: silences of many minutes are legal, and ours are counted by the exchange.
    const shared = { connections, headersTimeout: 0, bodyTimeout: 0, allowH2: false }
    if (!proxy) return new Pool(origin, { ...shared, connect: { timeout, lookup } })
    // `uri` is not part of the key of pools inside the agent, so each proxy address has an agent of its own.
    return new ProxyAgent({
      ...shared,
      uri: checkedProxy(proxy),
      connectTimeout: timeout,
      proxyTls: { lookup } as never,
    })
  }

  return {
    get(route: Route): Dispatcher {
      const key = route.proxy ? `${route.connectTimeoutMs} ${route.proxy}` : `${route.connectTimeoutMs} ${route.origin}`
      const known = kept.get(key)
      if (known) return known
      const made = create(route)
      kept.set(key, made)
      return made
    },
    /** Destroys every connection, those in use included. */
    close: async () => {
      const all = [...kept.values()]
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()))
      kept.clear()
    },
  }
}
