import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { TransportError } from './transport-error.ts'

/**
 * A name lookup for connections that refuses a name when one of its addresses is not permitted. The check sits where the
 * connection is made, so a name that changes its address between check and use gains nothing.
 */
export function createGuardedLookup(
  isPermitted: (address: string) => boolean,
  resolve: LookupFunction = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) {
        callback(error, '')
        return
      }
      const addresses: LookupAddress[] = typeof found === 'string' ? [{ address: found, family: 4 }] : found
      const first = addresses[0]
      if (!first || !addresses.every(({ address }) => isPermitted(address))) {
        callback(new TransportError('bad-url'), '')
        return
      }
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
