import { withoutTrailing } from '#core/trailing.ts'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
export type AddressRange = [Address, number]

/** IPv6 forms that carry an IPv4 address: where its four bytes begin. */
const embedded: Partial<Record<string, number>> = { rfc6052: 12, rfc6145: 12, '6to4': 2 }

/** The oldest of them, which the library takes for addresses like any other: the first twelve bytes are zero. */
const compatible: AddressRange = ipaddr.parseCIDR('::/96')
/** All that is given out of IPv6 so far. */
const givenOut: AddressRange = ipaddr.parseCIDR('2000::/3')

const isIn = (address: Address, [base, bits]: AddressRange): boolean =>
  base.kind() === address.kind() && address.match(base, bits)

/** The address that a connection would really reach: mapped and translated IPv4 in its own form. */
function realAddress(text: string): Address {
  const address = ipaddr.process(text)
  const offset = isIn(address, compatible) ? 12 : embedded[address.range()]
  if (offset === undefined) return address
  return ipaddr.fromByteArray(address.toByteArray().slice(offset, offset + 4))
}

/** Where clouds serve credentials to the machines in them, beside the link-local addresses. */
const metadataAddresses = new Set(['100.100.100.200', '192.0.0.192', '168.63.129.16', 'fd00:ec2::254'])
const metadataNames = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.tencentyun.com',
  'metadata.azure.internal',
])

export const isMetadataName = (hostname: string) => metadataNames.has(withoutTrailing(hostname.toLowerCase(), '.'))

/** Link-local and metadata addresses, which no setting may aim at. Text that is no address counts as one of them. */
export function isLinkLocal(text: string): boolean {
  if (!ipaddr.isValid(text)) return true
  const address = realAddress(text)
  return address.range() === 'linkLocal' || metadataAddresses.has(address.toString())
}

/** The host of a URL that is link-local by its own words; what a name resolves to is checked when connecting. */
export function isLinkLocalHost(hostname: string): boolean {
  const literal = literalAddress(hostname)
  return literal === undefined ? isMetadataName(hostname) : isLinkLocal(literal)
}

/** An address of the open internet, or one in a range the operator lets through. Link-local ones need to be named there. */
export function isPublic(text: string, allowed: readonly AddressRange[]): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = realAddress(text)
  if (allowed.some((range) => isIn(address, range))) return true
  const written = ipaddr.process(text)
  if (written.kind() === 'ipv6' && !isIn(written, givenOut)) return false
  return written.range() === 'unicast' && !metadataAddresses.has(address.toString())
}

/**
 * `OUTBOUND_ALLOW`: addresses and CIDR ranges.
 * @throws {Error} naming the part that is neither.
 */
export function parseRanges(parts: readonly string[]): AddressRange[] {
  return parts.map((part) => {
    if (ipaddr.isValidCIDR(part)) return ipaddr.parseCIDR(part)
    if (!ipaddr.isValid(part)) throw new Error(`not an address range: ${part}`)
    const address = ipaddr.process(part)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  })
}

/** The address in a URL's host, without the brackets of IPv6; undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(bare) ? bare : undefined
}
