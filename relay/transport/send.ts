import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import { parseJson } from '#core/exact-json.ts'
import { isLinkLocal, isLinkLocalHost } from './address.ts'
import { decodeBody } from './decode.ts'
import { createDispatchers } from './dispatchers.ts'
import { exchange, type Exchange } from './exchange.ts'
import { timeLimits, type TimeLimits } from './limits.ts'
import { type OpenedSocket, type OpenSocket, openSocket } from './open-socket.ts'
import { createGuardedLookup } from './lookup.ts'
import { socketExchange } from './socket-exchange.ts'
import { TransportError } from './transport-error.ts'

export { TransportError } from './transport-error.ts'

export type SendRequest = Partial<TimeLimits> & {
  method: Dispatcher.HttpMethod
  /** An address of `ws:` or `wss:` is sent the body as one text frame; the answer has a line for each frame. */
  url: string
  headers: Record<string, string>
  body?: string | Uint8Array | undefined
  /** Address of an http, https or socks5 proxy. */
  proxy?: string | undefined
  /** Stops the request at once, at whatever stage. */
  signal?: AbortSignal | undefined
  /** Of a socket: whether a frame ends the answer. */
  isLastFrame?: ((text: string) => boolean) | undefined
}

/** Holds memory for so many bytes more before they are kept. Nothing where there is room, else a promise that waits for it. */
export type HoldMore = (bytes: number) => Promise<void> | undefined

/** An answer whose headers have arrived. Read the body by one of the readers, or cancel: else the connection is lost. */
export type UpstreamReply = {
  status: number
  /** Lower-case names. Length and encoding are gone when the body was unpacked. */
  headers: IncomingHttpHeaders
  /** May be read once. Leaving the loop early closes the connection. Fails with a {@link TransportError}. */
  body: AsyncIterable<Uint8Array>
  bytes: (maxBytes?: number, hold?: HoldMore) => Promise<Buffer>
  text: (maxBytes?: number) => Promise<string>
  /** @throws {TransportError} `bad-response` when the body is not JSON. */
  json: (maxBytes?: number) => Promise<unknown>
  /** Does nothing after the end. */
  cancel: () => void
}

export type Transport = {
  /** @throws {TransportError} when no answer began. Redirects are answers, never followed. */
  send: (request: SendRequest) => Promise<UpstreamReply>
  /** A WebSocket of its own, paused. @throws {TransportError}; {SocketRefused} when the upstream answered otherwise. */
  openSocket: (request: OpenSocket) => Promise<OpenedSocket>
  close: () => Promise<void>
}

export type TransportOptions = {
  /** Connections per origin: far more than streams open at once, for a call beyond it would wait unseen until one ends. */
  connections?: number | undefined
  /** Name resolution; the system's by default. */
  resolve?: LookupFunction | undefined
}

const defaultMaxBytes = 64 * 1_048_576

async function collect(body: AsyncIterable<Uint8Array>, maxBytes: number, hold?: HoldMore): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxBytes) throw new TransportError('too-large', { sent: true })
    if (hold) await hold(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

function valueOf(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw new TransportError('bad-response', { cause: error, sent: true })
  }
}

export function toReply({ status, headers, body, cancel }: Exchange): UpstreamReply {
  const encoding = headers['content-encoding']
  let plain = body
  let shown = headers
  if (encoding) {
    try {
      plain = decodeBody(body, encoding)
    } catch (error) {
      cancel()
      throw error
    }
    const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = headers
    shown = rest
  }
  const bytes = (maxBytes = defaultMaxBytes, hold?: HoldMore) => collect(plain, maxBytes, hold)
  const text = async (maxBytes?: number) => (await bytes(maxBytes)).toString('utf8')
  const json = async (maxBytes?: number) => valueOf(await text(maxBytes))
  return { status, headers: shown, body: plain, bytes, text, json, cancel }
}

type Target = { origin: string; path: string }

/** Calls go to few addresses, and reading one takes longer than routing a call. */
const knownTargets = new Map<string, Target>()
const mostTargets = 1000
/** Addresses made for one call are not worth caching. */
const longestCached = 500

function targetOf(address: string): Target {
  const known = knownTargets.get(address)
  if (known) return known
  const target = readTarget(address)
  if (address.length > longestCached) return target
  if (knownTargets.size >= mostTargets) knownTargets.clear()
  knownTargets.set(address, target)
  return target
}

/** Origin and path of an address a channel may use: any host, private ones too, but never link-local or metadata. */
function readTarget(address: string): Target {
  const url = URL.parse(address)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    throw new TransportError('bad-url')
  if (isLinkLocalHost(url.hostname)) throw new TransportError('bad-url')
  return { origin: url.origin, path: url.pathname + url.search }
}

/** Sends requests to channels' upstreams over kept connections. */
export function createTransport({ connections = 16_384, resolve }: TransportOptions = {}): Transport {
  const lookup = createGuardedLookup((address) => !isLinkLocal(address), resolve)
  const dispatchers = createDispatchers({ lookup, connections })
  return {
    async send({ method, url, headers, body, proxy, signal, isLastFrame, ...given }) {
      const limits = timeLimits(given)
      if (/^wss?:/i.test(url)) {
        const asked = { url, headers, body: body ?? '', limits, proxy, signal, isLastFrame }
        return toReply(await socketExchange(asked, lookup))
      }
      const { origin, path } = targetOf(url)
      const dispatcher = dispatchers.get({ origin, proxy, connectTimeoutMs: limits.connectTimeoutMs })
      return toReply(
        await exchange({
          dispatcher,
          options: {
            origin,
            path,
            method,
            headers: headers['accept-encoding'] === undefined ? { ...headers, 'accept-encoding': 'identity' } : headers,
            body: body ?? null,
            // Repeated here because connections to a plain http proxy do not take them from their agent.
            headersTimeout: 0,
            bodyTimeout: 0,
          },
          limits,
          signal,
          boundConnect: proxy !== undefined && proxy !== '',
        }),
      )
    },
    openSocket: (request) => openSocket(request, lookup),
    close: dispatchers.close,
  }
}
