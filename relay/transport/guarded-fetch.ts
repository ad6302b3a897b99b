import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import { Agent, type Dispatcher } from 'undici'
import { isMetadataName, isPublic, literalAddress, parseRanges, type AddressRange } from './address.ts'
import { exchange } from './exchange.ts'
import { createGuardedLookup } from './lookup.ts'
import { type HoldMore, toReply, type UpstreamReply } from './send.ts'
import { TransportError } from './transport-error.ts'

type GuardedRequest = {
  method?: Dispatcher.HttpMethod | undefined
  headers?: Record<string, string> | undefined
  body?: string | Uint8Array | undefined
  maxBytes?: number | undefined
  /** Memory for what the answer brings. */
  hold?: HoldMore | undefined
  /** For the whole of it, redirects included. */
  timeoutMs?: number | undefined
  maxRedirects?: number | undefined
  signal?: AbortSignal | undefined
}
type GuardedReply = { status: number; headers: IncomingHttpHeaders; body: Buffer }

type GuardedOpening = Omit<GuardedRequest, 'maxBytes' | 'hold'>

/** @throws {TransportError} `bad-url` for a target that is not on the open internet. */
export type GuardedFetch = (url: string, request?: GuardedRequest) => Promise<GuardedReply>

/**
 * The answer as it comes, on a connection that no fetch waits for: its reader may be slow. `timeoutMs` bounds its beginning and each pause.
 * @throws {TransportError} `bad-url` for a target that is not on the open internet.
 */
export type GuardedOpen = (url: string, request?: GuardedOpening) => Promise<UpstreamReply>

/** With the target of an address, by its own words alone. @throws {TransportError} `bad-url`. */
export type CheckingFetch = GuardedFetch & { check: (address: string) => URL }

export type GuardedFetchOptions = {
  /** `OUTBOUND_ALLOW`: ranges that are let through though they are not public. */
  allowedRanges?: readonly string[] | undefined
  resolve?: LookupFunction | undefined
}

const usualTimeoutMs = 30_000

const redirects = new Set([301, 302, 303, 307, 308])
/** Headers that must not follow a redirect to another host. */
const privateHeaders = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key', 'x-goog-api-key'])

/** Ports below 1024 other than the web's belong to mail, shells and the like. */
const isWebPort = (url: URL) => url.port === '' || Number(url.port) > 1023 || url.port === '80' || url.port === '443'

function checkedTarget(address: string, base: URL | undefined, allow: readonly AddressRange[]): URL {
  const url = URL.parse(address, base)
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isWeb || url.hostname === '' || url.username || url.password || !isWebPort(url))
    throw new TransportError('bad-url')
  const literal = literalAddress(url.hostname)
  const refused = literal === undefined ? isMetadataName(url.hostname) : !isPublic(literal, allow)
  if (refused) throw new TransportError('bad-url')
  return url
}

const withoutPrivate = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !privateHeaders.has(name.toLowerCase())))

type Hop = {
  url: URL
  method: Dispatcher.HttpMethod
  headers: Record<string, string>
  body: string | Uint8Array | null
}

/** What to ask next, by the rules browsers follow. */
function nextHop(hop: Hop, status: number, url: URL): Hop {
  const headers = url.origin === hop.url.origin ? hop.headers : withoutPrivate(hop.headers)
  const becomesGet = status === 303 || ((status === 301 || status === 302) && hop.method === 'POST')
  return becomesGet ? { url, method: 'GET', headers, body: null } : { ...hop, url, headers }
}

/**
 * For addresses that ordinary users can aim: images in messages, webhooks. No private, loopback or link-local target,
 * checked where the connection is made; every redirect is checked anew; time and size are bounded.
 */
export function createGuardedFetch({ allowedRanges = [], resolve }: GuardedFetchOptions = {}): CheckingFetch & {
  open: GuardedOpen
  close: () => Promise<void>
} {
  const allow = parseRanges(allowedRanges)
  const lookup = createGuardedLookup((address) => isPublic(address, allow), resolve)
  const connect = { timeout: 10_000, lookup }
  const settings = { connect, headersTimeout: 0, bodyTimeout: 0, allowH2: false, maxOrigins: 1000 }
  const agent = new Agent({ ...settings, connections: 32 })
  const opening = new Agent(settings)

  type Asking = { dispatcher: Agent; timeoutMs: number; signal: AbortSignal | undefined }

  async function ask({ url, method, headers, body }: Hop, { dispatcher, timeoutMs, signal }: Asking) {
    const options = {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      body,
      headers: { 'accept-encoding': 'gzip, br', 'user-agent': 'model-gateway', ...headers },
    }
    const limits = { connectTimeoutMs: 10_000, firstByteTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs }
    return toReply(await exchange({ dispatcher, options, limits, signal, boundConnect: false }))
  }

  /** The first answer that is no redirect. */
  async function follow(address: string, request: GuardedOpening, asking: Asking): Promise<UpstreamReply> {
    let hop: Hop = {
      url: checkedTarget(address, undefined, allow),
      method: request.method ?? 'GET',
      headers: request.headers ?? {},
      body: request.body ?? null,
    }
    for (let count = 0; ; count += 1) {
      const reply = await ask(hop, asking)
      const { location } = reply.headers
      if (!redirects.has(reply.status) || location === undefined) return reply
      reply.cancel()
      if (count === (request.maxRedirects ?? 5))
        throw new TransportError('bad-response', { message: 'too many redirects', sent: true })
      hop = nextHop(hop, reply.status, checkedTarget(location, hop.url, allow))
    }
  }

  const guardedFetch: GuardedFetch = async (address, request = {}) => {
    const { timeoutMs = usualTimeoutMs, maxBytes = 1_048_576, hold } = request
    const deadline = AbortSignal.timeout(timeoutMs)
    const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline
    try {
      const { status, headers, bytes } = await follow(address, request, { dispatcher: agent, timeoutMs, signal })
      return { status, headers, body: await bytes(maxBytes, hold) }
    } catch (error) {
      if (error instanceof TransportError && error.kind === 'aborted' && deadline.aborted)
        throw new TransportError('timeout-first-byte', { cause: error, sent: error.sent })
      throw error
    }
  }
  return Object.assign(guardedFetch, {
    open: (address: string, request: GuardedOpening = {}) =>
      follow(address, request, {
        dispatcher: opening,
        timeoutMs: request.timeoutMs ?? usualTimeoutMs,
        signal: request.signal,
      }),
    check: (address: string) => checkedTarget(address, undefined, allow),
    close: async () => {
      await Promise.all([agent.destroy(), opening.destroy()])
    },
  })
}
