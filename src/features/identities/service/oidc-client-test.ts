import { DomainError } from '#core/errors.ts'
import type { Deps } from '../../deps.ts'
import { ask } from './ask.ts'
import { form, formHeaders, pageOf } from './oauth-provider.ts'
import { originOf } from './states.ts'

/** A provider that knows the client refuses the code; one that does not refuses the client, in one of these words. */
const clientRefusals = new Set(['invalid_client', 'unauthorized_client', 'access_denied'])

/**
 * Why the token endpoint does not accept our id and secret; undefined where it does.
 * @throws {DomainError} oidc.discovery_failed where nothing answers.
 */
export async function tokenEndpointRefusal(
  deps: Pick<Deps, 'transport' | 'environment' | 'options' | 'client'>,
  tokenEndpoint: string,
): Promise<string | undefined> {
  const [id, secret] = [deps.options.get('oidc.client_id'), deps.options.get('oidc.client_secret')]
  const body = form({
    grant_type: 'authorization_code',
    client_id: id,
    client_secret: secret,
    code: 'connection-test',
    redirect_uri: pageOf(originOf(deps), 'oidc'),
  })
  try {
    const { status, text } = await ask(deps, { method: 'POST', url: tokenEndpoint, headers: formHeaders, body })
    const error = errorIn(text)
    if (status === 401 || clientRefusals.has(error)) return error || `HTTP ${status}`
    return error === '' && status >= 400 ? `HTTP ${status}` : undefined
  } catch (cause) {
    throw new DomainError('oidc.discovery_failed', {}, { cause })
  }
}

function errorIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error.slice(0, 100) : ''
  } catch {
    return ''
  }
}
