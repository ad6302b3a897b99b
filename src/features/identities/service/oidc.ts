import * as openid from 'openid-client'
import { DomainError } from '#core/errors.ts'
import type { Deps } from '../../deps.ts'
import { askJson, orProviderFailed } from './ask.ts'
import { type OidcProvider, oidcProvider } from './oidc-provider.ts'
import { checkSecretSignature, signsWithSecret } from './oidc-secret-signature.ts'
import { addressWith, form, formHeaders, type OAuthConversation, type Return } from './oauth-provider.ts'
import { type Fields, fieldsOf, type Profile, textOf } from './profile.ts'
import { providerFacts } from './providers.ts'
import { codeVerifierOf, nonceOf } from './states.ts'

const { label } = providerFacts.oidc

export const oidc: OAuthConversation = {
  async authorizationAddress(deps, { state, redirectUri }) {
    const provider = await oidcProvider(deps)
    return addressWith(provider.authorizationEndpoint, {
      client_id: deps.options.get('oidc.client_id'),
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid profile email',
      state,
      nonce: nonceOf(deps, state),
      code_challenge: await openid.calculatePKCECodeChallenge(codeVerifierOf(deps, state)),
      code_challenge_method: 'S256',
    })
  },

  async profileOf(deps, answer) {
    const provider = await oidcProvider(deps)
    const claims = provider.configuration
      ? await verifiedClaims(deps, provider.configuration, answer)
      : await claimsByEndpoints(deps, provider, answer)
    return profileFrom(claims, provider.issuer)
  },
}

/** The id token is checked in full (signature, issuer, audience, time, nonce) before its subject is asked about. */
const verifiedClaims = (deps: Deps, configuration: openid.Configuration, answer: Return): Promise<Fields> =>
  orProviderFailed(deps, 'oidc', async () => {
    const back = new URL(answer.redirectUri)
    back.searchParams.set('code', answer.code)
    back.searchParams.set('state', answer.state)
    // Pages that know of no issuer leave it out; the state was bound to this provider all the same.
    back.searchParams.set('iss', answer.issuer || configuration.serverMetadata().issuer)
    const tokens = await grant(configuration, back, {
      expectedState: answer.state,
      idTokenExpected: true,
      ...(answer.isOwnStart
        ? { pkceCodeVerifier: codeVerifierOf(deps, answer.state), expectedNonce: nonceOf(deps, answer.state) }
        : {}),
    })
    if (signsWithSecret(configuration.serverMetadata())) {
      checkSecretSignature(tokens.id_token ?? '', configuration.clientMetadata().client_secret ?? '')
    }
    const claims = tokens.claims()
    if (!claims) throw new DomainError('oauth.profile_incomplete', { provider: label })
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return { ...claims }
    return { ...claims, ...(await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)) }
  })

/** A code that is refused is the browser's matter and not the provider's failure. */
async function grant(
  configuration: openid.Configuration,
  back: URL,
  checks: openid.AuthorizationCodeGrantChecks,
): ReturnType<typeof openid.authorizationCodeGrant> {
  try {
    return await openid.authorizationCodeGrant(configuration, back, checks)
  } catch (error) {
    if (error instanceof openid.ResponseBodyError && error.error === 'invalid_grant') {
      throw new DomainError('oauth.code_refused', { provider: label }, { cause: error })
    }
    throw error
  }
}

/** Without a configuration document there is no key to check an id token with: who it is says the provider itself. */
async function claimsByEndpoints(deps: Deps, provider: OidcProvider, answer: Return): Promise<Fields> {
  const tokens = fieldsOf(
    await askJson(deps, 'oidc', {
      method: 'POST',
      url: provider.tokenEndpoint,
      headers: formHeaders,
      body: form({
        grant_type: 'authorization_code',
        client_id: deps.options.get('oidc.client_id'),
        client_secret: deps.options.get('oidc.client_secret'),
        code: answer.code,
        redirect_uri: answer.redirectUri,
        ...(answer.isOwnStart ? { code_verifier: codeVerifierOf(deps, answer.state) } : {}),
      }),
    }),
  )
  const token = textOf(tokens['access_token'])
  if (token === '') throw new DomainError('oauth.code_refused', { provider: label })
  return fieldsOf(
    await askJson(deps, 'oidc', {
      method: 'GET',
      url: provider.userInfoEndpoint,
      headers: { authorization: `Bearer ${token}` },
    }),
  )
}

function profileFrom(claims: Fields, issuer: string): Profile {
  const [id, email] = [textOf(claims['sub']), textOf(claims['email'])]
  if (id === '' || id.length > 255 || email === '') {
    throw new DomainError('oauth.profile_incomplete', { provider: label })
  }
  const username = textOf(claims['preferred_username'])
  // Cognito's userinfo writes it as a text.
  const isVerified = claims['email_verified'] === true || claims['email_verified'] === 'true'
  return {
    id,
    issuer,
    displayName: textOf(claims['name']) || username,
    ...(username === '' ? {} : { username }),
    ...(isVerified ? { verifiedEmail: email } : {}),
  }
}
