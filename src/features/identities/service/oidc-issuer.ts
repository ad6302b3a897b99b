import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { Deps } from '../../deps.ts'

const suffix = '/.well-known/openid-configuration'

/** Where the configuration document stands below its issuer, that issuer; undefined where only the document says it. */
export const issuerByDocument = (wellKnown: string): string | undefined =>
  wellKnown.endsWith(suffix) ? withoutTrailingSlashes(wellKnown.slice(0, -suffix.length)) : undefined

/** Without a configuration document: the host that tells who somebody is. */
export const issuerByEndpoint = (userInfoEndpoint: string): string => URL.parse(userInfoEndpoint)?.origin ?? ''

/** Whose subjects are known, as far as the settings alone say it. */
export function issuerBySettings(options: Deps['options']): string | undefined {
  const wellKnown = options.get('oidc.well_known')
  return wellKnown === '' ? issuerByEndpoint(options.get('oidc.user_info_endpoint')) : issuerByDocument(wellKnown)
}
