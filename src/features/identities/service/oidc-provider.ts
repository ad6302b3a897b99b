import * as openid from 'openid-client'
import { z } from 'zod'
import { DomainError } from '#core/errors.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { Deps } from '../../deps.ts'
import { ask } from './ask.ts'
import { expectedIssuer, issuerByDocument, issuerByEndpoint } from './oidc-issuer.ts'
import { signsWithSecret } from './oidc-secret-signature.ts'

type Endpoints = {
  authorizationEndpoint: string
  tokenEndpoint: string
  /** Empty where the document names none. */
  userInfoEndpoint: string
}

export type OidcProvider = Endpoints & {
  /** Whose subjects they are, by the settings: not by what a document says of itself. */
  issuer: string
  /** What the configuration document says, with the keys it names; null where only endpoints are set. */
  configuration: openid.Configuration | null
}

type Settings = Endpoints & {
  wellKnown: string
  clientId: string
  clientSecret: string
}

const minutesCached = 10

/** The newest of each process's services, kept for some minutes, since every sign-in reads it twice; many at once read it once. */
const cached = new WeakMap<Deps['transport'], { key: string; until: number; provider: Promise<OidcProvider> }>()

/**
 * The provider as it is set: by its configuration document, whose endpoints the ones that are set replace.
 * @throws {DomainError} oidc.discovery_failed
 */
export async function oidcProvider(deps: Deps): Promise<OidcProvider> {
  const settings = settingsOf(deps)
  if (settings.wellKnown === '') return byEndpoints(settings)
  const key = JSON.stringify(settings)
  const known = cached.get(deps.transport)
  const now = deps.ambient.now().getTime()
  if (known?.key === key && known.until > now) return known.provider
  const provider = discover(deps, settings)
  const reading = { key, until: now + minutesCached * 60_000, provider }
  cached.set(deps.transport, reading)
  // What could not be read is read again by the next.
  provider.catch(() => cached.get(deps.transport) === reading && cached.delete(deps.transport))
  return provider
}

/** The same, read anew. @throws {DomainError} oidc.discovery_failed */
export async function readOidcProvider(deps: Deps): Promise<OidcProvider> {
  const settings = settingsOf(deps)
  return settings.wellKnown === '' ? byEndpoints(settings) : discover(deps, settings)
}

/** What a configuration document names, which need not be that of the settings. @throws {DomainError} oidc.discovery_failed */
export const readOidcEndpoints = (deps: Deps, wellKnown: string): Promise<Endpoints> =>
  orDiscoveryFailed(deps, async () => endpointsIn(await readDocument(deps, wellKnown)))

function settingsOf({ options }: Deps): Settings {
  return {
    wellKnown: options.get('oidc.well_known'),
    authorizationEndpoint: options.get('oidc.authorization_endpoint'),
    tokenEndpoint: options.get('oidc.token_endpoint'),
    userInfoEndpoint: options.get('oidc.user_info_endpoint'),
    clientId: options.get('oidc.client_id'),
    clientSecret: options.get('oidc.client_secret'),
  }
}

function byEndpoints({ authorizationEndpoint, tokenEndpoint, userInfoEndpoint }: Settings): OidcProvider {
  if (authorizationEndpoint === '' || tokenEndpoint === '' || userInfoEndpoint === '') {
    throw new DomainError('oidc.discovery_failed')
  }
  const issuer = issuerByEndpoint(userInfoEndpoint)
  return { issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint, configuration: null }
}

const discover = (deps: Deps, settings: Settings): Promise<OidcProvider> =>
  orDiscoveryFailed(deps, async () => {
    const metadata = { ...(await readDocument(deps, settings.wellKnown)), ...endpointsSet(settings) }
    const configuration = new openid.Configuration(
      metadata,
      settings.clientId,
      settings.clientSecret === '' ? {} : { client_secret: settings.clientSecret },
      clientAuthentication(metadata, settings.clientSecret),
    )
    configuration.timeout = deps.environment.SIGN_IN_TIMEOUT_SECONDS
    configuration[openid.customFetch] = fetchBy(deps)
    // Checked against the provider's keys here, or against the secret when the token has come.
    if (!signsWithSecret(metadata)) openid.enableNonRepudiationChecks(configuration)
    // Whoever names the document without TLS has the rest without it; a document behind TLS leads nowhere that is not.
    if (settings.wellKnown.startsWith('http:')) openid.allowInsecureRequests(configuration)
    return { ...endpointsIn(metadata), issuer: issuerByDocument(settings.wellKnown), configuration }
  })

async function orDiscoveryFailed<Result>(deps: Deps, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    deps.log.warn({ err: error }, 'the OIDC configuration could not be read')
    throw new DomainError('oidc.discovery_failed', {}, { cause: error })
  }
}

const endpoints = z.object({
  authorization_endpoint: z.string().min(1),
  token_endpoint: z.string().min(1),
  userinfo_endpoint: z
    .string()
    .nullish()
    .transform((text) => text ?? ''),
})

function endpointsIn(metadata: openid.ServerMetadata): Endpoints {
  const { data } = endpoints.safeParse(metadata)
  if (!data) throw new Error('the configuration names no endpoints')
  return {
    authorizationEndpoint: data.authorization_endpoint,
    tokenEndpoint: data.token_endpoint,
    userInfoEndpoint: data.userinfo_endpoint,
  }
}

async function readDocument(deps: Deps, wellKnown: string): Promise<openid.ServerMetadata> {
  const { status, text } = await ask(deps, { method: 'GET', url: wellKnown })
  if (status !== 200) throw new Error(`the OIDC configuration answered with status ${status}`)
  const found = JSON.parse(text) as openid.ServerMetadata
  const expected = expectedIssuer(wellKnown)
  if (expected !== undefined && withoutTrailingSlashes(found.issuer) !== expected) {
    throw new Error('the OIDC configuration is that of another issuer')
  }
  return found
}

function endpointsSet(settings: Endpoints): Partial<openid.ServerMetadata> {
  return {
    ...(settings.authorizationEndpoint === '' ? {} : { authorization_endpoint: settings.authorizationEndpoint }),
    ...(settings.tokenEndpoint === '' ? {} : { token_endpoint: settings.tokenEndpoint }),
    ...(settings.userInfoEndpoint === '' ? {} : { userinfo_endpoint: settings.userInfoEndpoint }),
  }
}

/** The secret in the form, unless the provider takes it in the header alone. */
function clientAuthentication(metadata: openid.ServerMetadata, secret: string): openid.ClientAuth {
  if (secret === '') return openid.None()
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_post']
  return methods.includes('client_secret_post') ? openid.ClientSecretPost(secret) : openid.ClientSecretBasic(secret)
}

/** The library's calls go the way of all outgoing calls: guarded, bounded in time and size, no redirect followed. */
const fetchBy =
  (deps: Deps): openid.CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const sent = body instanceof URLSearchParams ? body.toString() : body
    if (sent !== undefined && sent !== null && typeof sent !== 'string') throw new TypeError('a body of texts alone')
    const question = { method: method === 'POST' ? ('POST' as const) : ('GET' as const), url, headers }
    const {
      status,
      headers: shown,
      text,
    } = await ask(deps, { ...question, ...(typeof sent === 'string' ? { body: sent } : {}) }, signal)
    return new Response(status === 204 || status === 304 ? null : text, { status, headers: shown })
  }
