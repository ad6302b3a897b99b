import { DomainError } from '#core/errors.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { Deps } from '../../deps.ts'
import { askJson } from './ask.ts'
import { addressWith, form, formHeaders, type OAuthConversation } from './oauth-provider.ts'
import { fieldsOf, numericId, textOf } from './profile.ts'
import { providerFacts } from './providers.ts'

const { label } = providerFacts.linuxdo

const siteOf = ({ environment }: Deps): string => withoutTrailingSlashes(environment.LINUXDO_URL)

export const linuxdo: OAuthConversation = {
  authorizationAddress: async (deps, { state, redirectUri }) =>
    addressWith(`${siteOf(deps)}/oauth2/authorize`, {
      response_type: 'code',
      client_id: deps.options.get('LinuxDOClientId'),
      redirect_uri: redirectUri,
      state,
    }),

  async profileOf(deps, { code, redirectUri }) {
    const client = `${deps.options.get('LinuxDOClientId')}:${deps.options.get('LinuxDOClientSecret')}`
    const answer = fieldsOf(
      await askJson(deps, 'linuxdo', {
        method: 'POST',
        url: `${siteOf(deps)}/oauth2/token`,
        headers: { ...formHeaders, authorization: `Basic ${Buffer.from(client).toString('base64')}` },
        body: form({ grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
      }),
    )
    const token = textOf(answer['access_token'])
    if (token === '') throw new DomainError('oauth.code_refused', { provider: label })
    const person = fieldsOf(
      await askJson(deps, 'linuxdo', {
        method: 'GET',
        url: `${siteOf(deps)}/api/user`,
        headers: { authorization: `Bearer ${token}` },
      }),
    )
    const id = numericId(person['id'])
    if (id === '') throw new DomainError('oauth.profile_incomplete', { provider: label })
    return {
      id,
      displayName: textOf(person['name']) || textOf(person['username']),
      // From the profile alone: what stands in the address could be anybody's claim.
      trustLevel: typeof person['trust_level'] === 'number' ? person['trust_level'] : 0,
    }
  },
}
