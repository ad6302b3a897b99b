import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

const isAddress = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)

/** `0000:…:255.255.255.255` with a zone; what is longer is no address and not worth remembering. */
const longestAddress = 64

/** The same callers come again and again, and are asked about in the same few ranges. */
function remembered<Value extends object | string | null>(read: (text: string) => Value): (text: string) => Value {
  const known = new LRUCache<string, { value: Value }>({ max: 1000 })
  return (text) => {
    const before = known.get(text)
    if (before) return before.value
    const value = read(text)
    if (text.length <= longestAddress) known.set(text, { value })
    return value
  }
}

/** One spelling per address: IPv4 inside IPv6 becomes plain IPv4, a zone goes; what is no address becomes "". */
export const normaliseAddress = remembered((text) => {
  const [bare = ''] = text.split('%', 1)
  return isAddress(bare) ? ipaddr.process(bare).toString() : ''
})

/** As proxies write an address: perhaps with a port, brackets or quotes. What cannot be read becomes "". */
export function readForwarded(entry: string): string {
  const text = entry.trim().replace(/^"(.*)"$/, '$1')
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)
  if (bracketed) return normaliseAddress(bracketed[1] ?? '')
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)
  return normaliseAddress(withPort?.[1] ?? text)
}

/** As published at cloudflare.com/ips; they have changed once in ten years. */
const cloudflare = (
  '173.245.48.0/20 103.21.244.0/22 103.22.200.0/22 103.31.4.0/22 141.101.64.0/18 108.162.192.0/18 190.93.240.0/20 ' +
  '188.114.96.0/20 197.234.240.0/22 198.41.128.0/17 162.158.0.0/15 104.16.0.0/13 104.24.0.0/14 172.64.0.0/13 ' +
  '131.0.72.0/22 2400:cb00::/32 2606:4700::/32 2803:f800::/32 2405:b500::/32 2405:8100::/32 2a06:98c0::/29 2c0f:f248::/32'
).split(' ')

const namedRanges: Record<string, string[]> = {
  loopback: ['loopback'],
  linklocal: ['linkLocal'],
  uniquelocal: ['uniqueLocal', 'private'],
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** A range of IPv4 addresses may be written in IPv6 form. */
const rangeOf = remembered((text): Range => {
  if (!ipaddr.isValidCIDR(text)) {
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  }
  const [base, bits] = ipaddr.parseCIDR(text)
  const isMapped = base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96
  return isMapped ? [base.toIPv4Address(), bits - 96] : [base, bits]
})

/** Which of its special ranges an address is in costs the library a hundred objects. */
const parseAddress = remembered((text) => {
  if (!isAddress(text)) return null
  const address = ipaddr.process(text)
  return { address, kind: address.range() }
})

/** Whether an address is one of the addresses or ranges; ranges may be named. */
export const isInside = (address: string, ranges: readonly string[]): boolean => {
  const parsed = parseAddress(address)
  if (!parsed) return false
  const matches = (range: string): boolean => {
    const [base, bits] = rangeOf(range)
    return base.kind() === parsed.address.kind() && parsed.address.match(base, bits)
  }
  return ranges.some((range) => {
    if (range === 'cloudflare') return cloudflare.some(matches)
    return namedRanges[range]?.includes(parsed.kind) ?? matches(range)
  })
}

/** Whether `address` is one of `entries` (addresses or ranges, one a line or comma-separated); none at all allows all. */
export function isAllowedAddress(address: string, entries: string): boolean {
  const written = entries.split(/[\s,]+/).filter((entry) => entry !== '')
  // What cannot be read allows nobody: an unreadable list must not turn into "from everywhere".
  const ranges = written.filter((entry) => ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry))
  return written.length === 0 || isInside(address, ranges)
}

/** One household or server: the address, or its /64 in IPv6, where addresses cost nothing. */
export const networkOf = remembered((ip) => {
  if (!isAddress(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return new ipaddr.IPv6([...address.toByteArray().slice(0, 8), ...Array<number>(8).fill(0)]).toString()
})
