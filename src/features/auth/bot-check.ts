import { z } from 'zod'
import { DomainError } from '#core/errors.ts'
import { sendUnsigned } from '#relay/upstream-call/send.ts'
import { endsWithin } from '#relay/upstream-call/timeouts.ts'
import type { Deps } from '../deps.ts'
import { readSession, rememberInSession } from './session.ts'

const verifyUrl = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'
const timeoutMs = 10_000
const verdictIn = z.object({ success: z.boolean(), 'error-codes': z.array(z.unknown()).catch([]) })

/**
 * Lets a person pass. One answer serves the rest of the browser's session, but for one account only; with `every-time` an answer
 * that is given is verified anyway, and the session counts only where none is.
 * @throws {DomainError} bot_check.missing, bot_check.unavailable, bot_check.failed
 */
export async function requireBotCheck(
  deps: Deps,
  answer: string,
  use: 'session' | 'every-time' | 'new-account' = 'session',
): Promise<void> {
  if (!deps.options.get('TurnstileCheckEnabled')) return
  const passed = use === 'every-time' && answer !== '' ? undefined : (await readSession(deps)).turnstile
  if (passed === true || (passed === 'spent' && use !== 'new-account')) return
  if (answer === '') throw new DomainError('bot_check.missing')
  if (!(await verify(deps, answer))) throw new DomainError('bot_check.failed')
  await rememberInSession(deps, { turnstile: true })
}

/**
 * What a session remembers of the check is worth one new account, however many ask with it at once: a program that a person let
 * in once would make as many as it liked. The login that follows needs no other. Part of the transaction that makes the account.
 * @throws {DomainError} bot_check.missing
 */
export async function spendBotCheck({ em, options, session }: Pick<Deps, 'em' | 'options' | 'session'>): Promise<void> {
  if (!options.get('TurnstileCheckEnabled')) return
  const spent: unknown[] = await em
    .getConnection()
    .execute(
      `update sessions set data = data || '{"turnstile":"spent"}' where id_hash = ? and data -> 'turnstile' = 'true' returning user_id`,
      [session.idHash],
      'all',
      em.getTransactionContext(),
    )
  if (spent.length === 0) throw new DomainError('bot_check.missing')
}

/** What Cloudflare says of the site's own settings; no answer of a visitor's would pass. */
const faultsOfSite: readonly unknown[] = ['missing-input-secret', 'invalid-input-secret']

async function verify({ transport, options, client, log }: Deps, answer: string): Promise<boolean> {
  const form = new URLSearchParams({
    secret: options.get('TurnstileSecretKey'),
    response: answer,
    remoteip: client.ip,
  })
  try {
    const reply = await sendUnsigned(transport, {
      method: 'POST',
      url: verifyUrl,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      ...endsWithin(timeoutMs),
    })
    const verdict = verdictIn.parse(JSON.parse(await reply.text(65_536)))
    const faults = verdict['error-codes'].filter((code) => faultsOfSite.includes(code))
    if (!verdict.success && faults.length > 0) throw new Error(`TurnstileSecretKey: ${faults.join(', ')}`)
    return verdict.success
  } catch (error) {
    log.error({ err: error }, 'the bot check could not be asked')
    throw new DomainError('bot_check.unavailable', {}, { cause: error })
  }
}
