import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { Deps } from '../../deps.ts'

const suffix = '/.well-known/openid-configuration'

/** The issuer that the configuration document has to name; undefined where it does not stand below one. */
export const expectedIssuer = (wellKnown: string): string | undefined =>
  wellKnown.endsWith(suffix) ? withoutTrailingSlashes(wellKnown.slice(0, -suffix.length)) : undefined

/** Whose subjects a document's are: its issuer where the address says it, else the address itself. */
export const issuerByDocument = (wellKnown: string): string => expectedIssuer(wellKnown) ?? wellKnown

/** Without a configuration document: the host that identifies who somebody is. */
export const issuerByEndpoint = (userInfoEndpoint: string): string => URL.parse(userInfoEndpoint)?.origin ?? ''

/** Whose subjects are known: a function of the settings alone, as the migration that wrote the issuers to old rows needs it. */
export function issuerBySettings(options: Pick<Deps['options'], 'get'>): string {
  const wellKnown = options.get('oidc.well_known')
  return wellKnown === '' ? issuerByEndpoint(options.get('oidc.user_info_endpoint')) : issuerByDocument(wellKnown)
}
