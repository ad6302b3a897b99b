import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Deps, Services } from '../deps.ts'
import { isInside, networkOf, normaliseAddress, readForwarded } from './addresses.ts'

export { isAllowedAddress, networkOf, normaliseAddress } from './addresses.ts'

type Trust = Pick<Services, 'options' | 'environment'>

const first = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? (value[0] ?? '') : (value ?? '')

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

const localPeers = ['loopback', 'uniquelocal']

/** Which hop, counted from the peer (0), is a proxy whose word about the hop before it counts. */
type IsProxy = (address: string, hop: number) => boolean

const listedProxies = ({ environment: { TRUST_PROXY: trusted } }: Trust): string[] =>
  Array.isArray(trusted) ? trusted : []

/** `own`: without Cloudflare's, whose word anybody may forge who reaches a proxy behind it. */
function trustOf({ options, environment }: Trust, own: 'own' | 'all'): IsProxy | null {
  const { TRUST_PROXY: trusted } = environment
  const behindProxy = options.get('ReverseProxyEnabled')
  if (trusted === undefined && !behindProxy) return null
  const hops = typeof trusted === 'number' ? trusted : 0
  const isCloudflare = behindProxy && options.get('ReverseProxyProvider') === 'cloudflare'
  const proxies = [
    ...listedProxies({ options, environment }),
    ...(behindProxy ? localPeers : []),
    ...(isCloudflare && own === 'all' ? ['cloudflare'] : []),
  ]
  return (address, hop) => hop < hops || isInside(address, proxies)
}

/** Where a request comes from, and whether a proxy we trust has said so. */
function callerOf(trust: Trust, req: IncomingMessage): { ip: string; throughProxy: boolean } {
  const peer = peerOf(req)
  const isProxy = trustOf(trust, 'all')
  if (!isProxy?.(peer, 0)) return { ip: peer, throughProxy: false }
  const viaProxy = (ip: string) => ({ ip: ip || peer, throughProxy: true })
  const behindProxy = trust.options.get('ReverseProxyEnabled')
  if (behindProxy && trust.options.get('ReverseProxyProvider') === 'cloudflare') {
    return viaProxy(throughCloudflare(trust, req, peer))
  }
  const forwarded = first(req.headers['x-forwarded-for'])
  if (forwarded.trim() === '') {
    const isCounted = typeof trust.environment.TRUST_PROXY === 'number' && !behindProxy
    return viaProxy(isCounted ? '' : readForwarded(first(req.headers['x-real-ip'])))
  }
  return viaProxy(lastUntrusted(forwarded.split(','), peer, isProxy))
}

/**
 * Whom Cloudflare names, if it is Cloudflare that called our own proxies. They hand its header on from anybody, and whoever finds
 * their address calls them without it: then the caller is who called them. A tunnel has no hop of Cloudflare's, but both
 * headers agree; where our proxies name nobody, or only each other, there is only the one.
 */
function throughCloudflare(trust: Trust, req: IncomingMessage, peer: string): string {
  const named = readForwarded(first(req.headers['cf-connecting-ip']))
  const forwarded = first(req.headers['x-forwarded-for'])
  const isOwn = trustOf(trust, 'own')
  if (isInside(peer, ['cloudflare']) || !isOwn || forwarded.trim() === '') return named
  const nearest = lastUntrusted(forwarded.split(','), peer, isOwn)
  const isOurs = isInside(nearest, [...localPeers, ...listedProxies(trust)])
  return isOurs || isInside(nearest, ['cloudflare']) ? named || nearest : nearest
}

/**
 * From the nearest hop outwards: the first that is no proxy of ours is the caller; where all are, the farthest. An entry
 * that cannot be read is a hop all the same, else what stands farther left, the caller's own claim, would move into its
 * place; where it is the caller's, the address of the proxy before it stands for the caller.
 */
function lastUntrusted(entries: string[], peer: string, isProxy: IsProxy): string {
  let address = peer
  for (let hop = 1; hop <= entries.length; hop += 1) {
    const entry = readForwarded(entries[entries.length - hop] ?? '')
    if (!isProxy(entry, hop)) return entry || address
    address = entry || address
  }
  return address
}

/**
 * The caller's address: the peer's, unless the peer is a proxy we trust; then the last forwarded address that is not
 * itself such a proxy, or whom Cloudflare names. What an untrusted peer writes into a header never counts. Access rules, limits and logs all read it here.
 */
export const clientAddress = (trust: Trust, req: IncomingMessage): string => callerOf(trust, req).ip

/** Under which name a request is counted: an IPv6 caller has a whole network of addresses. */
export const clientNetwork = (trust: Trust, req: IncomingMessage): string => networkOf(clientAddress(trust, req))

/** Headers that only a proxy adds. */
const proxyHeaders =
  /^(?:x-forwarded(?:-.+)?|x-(?:real|client|cluster-client)-ip|x-original-.+|x-proxy-.+|true-client-ip|forwarded|via|cf-.+|cdn-loop|proxy-connection)$/

const loopbackHost = /^(?:localhost|127(?:\.(?:0|[1-9]\d{0,2})){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * Whether this machine itself is asking: by its peer, by the name that was opened, and without a sign of anything between.
 * Another site's page whose name was made to lead here, and a proxy on this machine that adds no header, both come from
 * the loopback peer, but under a name of their own.
 */
function isFromThisMachine(req: IncomingMessage): boolean {
  if (!isInside(peerOf(req), ['loopback'])) return false
  if (Object.keys(req.headers).some((name) => proxyHeaders.test(name))) return false
  // Proxies speak the older version unless they are configured otherwise; browsers and tools no longer do.
  if (req.httpVersionMajor === 1 && req.httpVersionMinor === 0) return false
  const hosts = req.rawHeaders.filter((_, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === 'host')
  // The address may name a host too, which goes before that of the header: neither makes good for the other.
  if (hosts.length !== 1 || ![...hosts, first(req.headers.host)].every((host) => loopbackHost.test(host))) return false
  const { origin } = req.headers
  return origin === undefined || loopbackHost.test(/^https?:\/\/(.*)$/i.exec(origin)?.[1] ?? '')
}

/** A proxy of the operator's, as it seems, speaks for its callers and nobody said that its word counts: all of them are one to us. */
const isUnknownProxy = (trust: Trust, req: IncomingMessage): boolean =>
  trustOf(trust, 'all') === null && req.headers['x-forwarded-for'] !== undefined && isInside(peerOf(req), localPeers)

/** Everything a service may know of the connection. */
export function clientOf(trust: Trust, req: IncomingMessage): Deps['client'] {
  const { ip, throughProxy } = callerOf(trust, req)
  const secure = 'encrypted' in req.socket || (throughProxy && first(req.headers['x-forwarded-proto']) === 'https')
  return {
    ip,
    userAgent: first(req.headers['user-agent']).slice(0, 500),
    secure,
    loopback: isFromThisMachine(req),
    ...(isUnknownProxy(trust, req) && { unknownProxy: true as const }),
    origin: `${secure ? 'https' : 'http'}://${first(req.headers.host)}`,
    page: first(req.headers.origin) || first(req.headers.referer),
  }
}
