import { DomainError, toDomainError } from '#core/errors.ts'
import { decodeText } from '#core/options/codec.ts'
import { recordAct } from '#features/audit/service.ts'
import { describeTransportError, TransportError } from '#relay/transport/transport-error.ts'
import type { UserDeps } from '#features/deps.ts'
import { tokenEndpointRefusal } from '#features/identities/service/oidc-client-test.ts'
import { readOidcEndpoints, readOidcProvider } from '#features/identities/service/oidc-provider.ts'
import { sendMail } from '#features/mail/service.ts'
import type { DiscoverOidc, TestMail } from './schema.ts'

const words = {
  subject: '测试邮件 / Test mail',
  lines: ['这是一封测试邮件，说明本站可以发送邮件。', 'This is a test mail: the site can send mails.'],
}

/**
 * Sends a mail by the settings as they are saved.
 * @throws {DomainError} mail.test_failed with what the mail server said where it did not take it
 */
export async function testMail(deps: UserDeps, { to }: TestMail): Promise<void> {
  await recordAct(deps, { action: 'options.test_mail', targetType: 'option', targetId: 'SMTPServer', after: { to } })
  await orReason('mail.test_failed', () => sendMail(deps, { to, ...words }))
}

/** The cause, which root may read; users read only that there was one. */
async function orReason<Result>(
  code: 'mail.test_failed' | 'oidc.test_failed',
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const cause = error instanceof DomainError ? error.cause : undefined
    if (cause === undefined) throw error
    throw new DomainError(code, { reason: reasonOf(cause) }, { cause })
  }
}

const longestReason = 500
function reasonOf(cause: unknown): string {
  // What it quotes of an answer is nothing to show.
  if (cause instanceof SyntaxError) return 'the answer is not JSON'
  if (cause instanceof TransportError) return describeTransportError(cause)
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, longestReason)
}

type Endpoints = { authorizationEndpoint: string; tokenEndpoint: string; userInfoEndpoint: string }

/**
 * What the document at an address names, which root has typed and may not have saved: it goes where the option may lead, and nothing else
 * of the answer is shown.
 * @throws {DomainError} oidc.test_failed; as saving the option would
 */
export async function discoverOidc(deps: UserDeps, { address }: DiscoverOidc): Promise<Endpoints> {
  const validated = decodeText('oidc.well_known', address)
  if (validated.problem) throw toDomainError(validated.problem)
  return orReason('oidc.test_failed', () => readOidcEndpoints(deps, validated.value))
}

/**
 * Reads the provider's configuration anew and shows it our credentials with a code that cannot be good.
 * @throws {DomainError} oidc.test_failed, oidc.client_refused
 */
export async function testOidc(deps: UserDeps): Promise<Endpoints> {
  await recordAct(deps, { action: 'options.test_oidc', targetType: 'option', targetId: 'oidc.well_known' })
  const { authorizationEndpoint, tokenEndpoint, userInfoEndpoint, refusal } = await orReason(
    'oidc.test_failed',
    async () => {
      const provider = await readOidcProvider(deps)
      return { ...provider, refusal: await tokenEndpointRefusal(deps, provider.tokenEndpoint) }
    },
  )
  if (refusal !== undefined) throw new DomainError('oidc.client_refused', { reason: refusal })
  return { authorizationEndpoint, tokenEndpoint, userInfoEndpoint }
}
