import { hash } from 'node:crypto'
import { DomainError } from '#core/errors.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { Deps } from '../../deps.ts'
import { askJson } from './ask.ts'
import { addressWith, type OAuthConversation } from './oauth-provider.ts'
import { fieldsOf, numericId, textOf } from './profile.ts'
import { providerFacts } from './providers.ts'
import { codeVerifierOf } from './states.ts'

const { label } = providerFacts.github

const siteOf = ({ environment }: Deps): string => withoutTrailingSlashes(environment.GITHUB_URL)

/** An installation of an enterprise has its API below its own address. */
const apiOf = (deps: Deps): string =>
  siteOf(deps) === 'https://github.com' ? 'https://api.github.com' : `${siteOf(deps)}/api/v3`

export const github: OAuthConversation = {
  authorizationAddress: async (deps, { state }) =>
    addressWith(`${siteOf(deps)}/login/oauth/authorize`, {
      client_id: deps.options.get('GitHubClientId'),
      state,
      scope: 'user:email',
      code_challenge: hash('sha256', codeVerifierOf(deps, state), 'base64url'),
      code_challenge_method: 'S256',
    }),

  async profileOf(deps, { code, state, isOwnStart }) {
    const token = await exchange(deps, { code, verifier: isOwnStart ? codeVerifierOf(deps, state) : '' })
    const headers = { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' }
    const person = fieldsOf(await askJson(deps, 'github', { method: 'GET', url: `${apiOf(deps)}/user`, headers }))
    const id = numericId(person['id'])
    if (id === '') throw new DomainError('oauth.profile_incomplete', { provider: label })
    // 403: an app without the permission; 404: a token without the scope, where the browser wrote GitHub's address itself.
    const emails = { method: 'GET', url: `${apiOf(deps)}/user/emails`, headers, refusals: [403, 404] } as const
    const verifiedEmail = primaryOf(await askJson(deps, 'github', emails))
    return {
      id,
      displayName: textOf(person['name']) || textOf(person['login']),
      ...(verifiedEmail === '' ? {} : { verifiedEmail }),
    }
  },
}

/** GitHub answers 200 to a code it does not know. */
async function exchange(deps: Deps, { code, verifier }: { code: string; verifier: string }): Promise<string> {
  const answer = fieldsOf(
    await askJson(deps, 'github', {
      method: 'POST',
      url: `${siteOf(deps)}/login/oauth/access_token`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: deps.options.get('GitHubClientId'),
        client_secret: deps.options.get('GitHubClientSecret'),
        code,
        ...(verifier === '' ? {} : { code_verifier: verifier }),
      }),
    }),
  )
  const token = textOf(answer['access_token'])
  if (token === '') throw new DomainError('oauth.code_refused', { provider: label })
  return token
}

/** The address in the profile itself may be one that nobody has verified. */
function primaryOf(emails: unknown): string {
  const entries = Array.isArray(emails) ? emails.map(fieldsOf) : []
  const primary = entries.find((entry) => entry['primary'] === true && entry['verified'] === true)
  return textOf(primary?.['email'])
}
