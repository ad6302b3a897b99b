import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import Provider from 'oidc-provider'
import { listenLocally } from '../local-server.ts'

export type OidcPerson = {
  sub: string
  email?: string
  email_verified?: boolean | string
  name?: string
  preferred_username?: string
}

export type OidcClient = { id: string; secret: string; redirectUris: string[] }

/** A certified OpenID provider where one person is signed in already and consents. */
export async function startOidc(client: OidcClient, { signsWithSecret = false } = {}) {
  const people = new Map<string, OidcPerson>()
  const state = { sub: 'somebody' }
  const server = createServer()
  const listening = await listenLocally(server)
  const { url } = listening
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const provider = new Provider(url, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: client.redirectUris,
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        ...(signsWithSecret ? { id_token_signed_response_alg: 'HS256' } : {}),
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] },
    ...(signsWithSecret ? { enabledJWA: { idTokenSigningAlgValues: ['HS256'] } } : {}),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username'] },
    cookies: { keys: ['a key of the test'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => false },
    // Fifty codes are fetched before the first is spent.
    ttl: { AuthorizationCode: 600 },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: async () => ({ ...people.get(sub), sub }) }),
    loadExistingGrant: async (ctx) => {
      const { client: asking, session } = ctx.oidc
      const grant = new provider.Grant({ clientId: asking?.clientId ?? '', accountId: session?.accountId ?? '' })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const serve = provider.callback()
  server.on('request', async (req, res) => {
    if (!req.url?.startsWith('/interaction/')) return void serve(req, res)
    await provider.interactionFinished(req, res, { login: { accountId: state.sub, remember: false } })
  })
  return {
    ...listening,
    wellKnown: `${url}/.well-known/openid-configuration`,
    be: (person: OidcPerson) => {
      people.set(person.sub, person)
      state.sub = person.sub
    },
  }
}
