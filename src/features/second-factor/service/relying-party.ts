import { isIP } from 'node:net'
import { DomainError } from '#core/errors.ts'
import type { Deps } from '../../deps.ts'

/** The site as passkeys know it. */
type RelyingParty = {
  /** The host that passkeys are made for. */
  id: string
  name: string
  /** Where the browser may say it was. */
  origins: string[]
}

/**
 * The configured address, or the one the browser asked for. A forged Host header gains nothing by that: browsers use a passkey
 * on its own host only, and each is kept with the host it was made for. Behind a proxy that is not trusted the scheme is not
 * known; browsers allow passkeys over TLS alone, save on localhost.
 * @throws {DomainError} passkey.address_unfit
 */
export function relyingPartyOf({
  options,
  client,
}: Pick<Deps, 'client'> & { options: Pick<Deps['options'], 'get'> }): RelyingParty {
  const configured = URL.parse(options.get('ServerAddress'))
  const site = configured ?? URL.parse(client.origin)
  if (!site || isIP(site.hostname.replace(/^\[|\]$/g, '')) !== 0) throw new DomainError('passkey.address_unfit')
  const { hostname: id, host } = site
  const isLocal = id === 'localhost' || id.endsWith('.localhost')
  return {
    id,
    name: options.get('SystemName') || id,
    origins: [`https://${host}`, ...(isLocal ? [`http://${host}`] : [])],
  }
}
