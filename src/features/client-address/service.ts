import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Deps, Services } from '../deps.ts'

const first = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? (value[0] ?? '') : (value ?? '')

/** One spelling per address: IPv4 inside IPv6 becomes plain IPv4; what is no address becomes "". */
export const normaliseAddress = (text: string): string => (ipaddr.isValid(text) ? ipaddr.process(text).toString() : '')

const peers = new WeakMap<Socket, string>()

/** Who holds the other end of the connection, read once for all its requests. */
function peerOf({ socket }: IncomingMessage): string {
  const known = peers.get(socket)
  if (known !== undefined) return known
  const peer = normaliseAddress(socket.remoteAddress ?? '')
  // A connection that has ended has no address any more.
  if (peer !== '') peers.set(socket, peer)
  return peer
}

const isInside = (address: string, ranges: readonly string[]): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return ranges.some((range) => {
    if (['loopback', 'linklocal', 'uniquelocal'].includes(range))
      return namedRanges[range]?.includes(parsed.range()) ?? false
    const [base, bits] = ipaddr.isValidCIDR(range)
      ? ipaddr.parseCIDR(range)
      : [ipaddr.process(range), ipaddr.process(range).kind() === 'ipv4' ? 32 : 128]
    return base.kind() === parsed.kind() && parsed.match(base, bits)
  })
}

const namedRanges: Record<string, string[]> = {
  loopback: ['loopback'],
  linklocal: ['linkLocal'],
  uniquelocal: ['uniqueLocal', 'private'],
}

const localPeers = ['loopback', 'uniquelocal']

/** Whether `address` is one of `entries` (addresses or ranges, one a line or comma-separated); no valid entry allows all. */
export function isAllowedAddress(address: string, entries: string): boolean {
  const ranges = entries
    .split(/[\n,]/)
    .map((entry) => entry.trim())
    .filter((entry) => ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry))
  return ranges.length === 0 || isInside(address, ranges)
}

/**
 * The caller's address: the peer's, unless the peer is a proxy we trust; then the last forwarded address that is not
 * itself such a proxy. What a stranger writes into a header never counts.
 */
export function clientAddress(services: Pick<Services, 'options' | 'environment'>, req: IncomingMessage): string {
  const peer = peerOf(req)
  const { TRUST_PROXY: trusted } = services.environment
  const behindProxy = services.options.get('ReverseProxyEnabled')
  if (trusted === undefined && !behindProxy) return peer
  const forwarded = first(req.headers['x-forwarded-for'])
    .split(',')
    .map((entry) => normaliseAddress(entry.trim()))
  if (typeof trusted === 'number') {
    const chain = [...forwarded.filter((entry) => entry !== ''), peer]
    return chain[Math.max(0, chain.length - 1 - trusted)] ?? peer
  }
  const proxies = [...(trusted ?? []), ...(behindProxy ? localPeers : [])]
  if (!isInside(peer, proxies)) return peer
  if (behindProxy && services.options.get('ReverseProxyProvider') === 'cloudflare') {
    return normaliseAddress(first(req.headers['cf-connecting-ip'])) || peer
  }
  const known = forwarded.filter((entry) => entry !== '')
  const caller = known.findLast((entry) => !isInside(entry, proxies)) ?? known[0]
  return caller ?? (normaliseAddress(first(req.headers['x-real-ip'])) || peer)
}

/**
 * Whether the address that was opened is this machine by name too: a page of a stranger's whose name was made to lead here
 * comes from the loopback peer, but under its own name.
 */
function isLoopbackHost(host: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '') ?? ''
  return name === 'localhost' || name.endsWith('.localhost') || isInside(name, ['loopback'])
}

/** Everything a service may know of the connection. */
export function clientOf(services: Pick<Services, 'options' | 'environment'>, req: IncomingMessage): Deps['client'] {
  const peer = peerOf(req)
  const forwardingHeaders = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'cf-connecting-ip', 'x-forwarded-host']
  const throughProxy = forwardingHeaders.some((name) => req.headers[name] !== undefined)
  const ip = clientAddress(services, req)
  const trustsPeer = ip !== peer
  const secure = 'encrypted' in req.socket || (trustsPeer && first(req.headers['x-forwarded-proto']) === 'https')
  return {
    ip,
    userAgent: first(req.headers['user-agent']).slice(0, 500),
    secure,
    loopback: isInside(peer, ['loopback']) && !throughProxy && isLoopbackHost(first(req.headers.host)),
    origin: `${secure ? 'https' : 'http'}://${first(req.headers.host)}`,
  }
}
