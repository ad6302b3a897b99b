import { DomainError } from '#core/errors.ts'
import { sendUnsigned } from '#relay/upstream-call/send.ts'
import { eachWithin } from '#relay/upstream-call/timeouts.ts'
import type { Deps } from '../deps.ts'
import { readSession, rememberInSession } from './session.ts'

const verifyUrl = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'
const timeoutMs = 10_000

/**
 * Lets a person pass. One answer serves the rest of the browser's session; with `everyTime` an answer that is given is
 * verified anyway, and the session counts only where none is.
 */
export async function requireBotCheck(deps: Deps, answer: string, everyTime = false): Promise<void> {
  if (!deps.options.get('TurnstileCheckEnabled')) return
  const mayRelyOnSession = !everyTime || answer === ''
  if (mayRelyOnSession && (await readSession(deps)).turnstile === true) return
  if (answer === '') throw new DomainError('bot_check.missing')
  if (!(await verify(deps, answer))) throw new DomainError('bot_check.failed')
  await rememberInSession(deps, { turnstile: true })
}

async function verify({ transport, options, client }: Deps, answer: string): Promise<boolean> {
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
      ...eachWithin(timeoutMs),
    })
    const verdict: unknown = JSON.parse(await reply.text(65_536))
    return typeof verdict === 'object' && verdict !== null && 'success' in verdict && verdict.success === true
  } catch (error) {
    throw new DomainError('bot_check.unavailable', {}, { cause: error })
  }
}
