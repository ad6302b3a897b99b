import { DomainError } from '#core/errors.ts'
import { sendUnsigned } from '#relay/upstream-call/send.ts'
import type { Deps } from '../../deps.ts'
import type { Provider } from '../schema.ts'
import { refusalOf } from './providers.ts'

type AskDeps = Pick<Deps, 'transport' | 'environment' | 'log'>

type Question = {
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string
}

/** A profile has a few kilobytes. */
const mostBytes = 262_144

/** An answer as it came, whatever its status. @throws when none comes in time, or too large a one */
export async function ask(
  { transport, environment }: Pick<Deps, 'transport' | 'environment'>,
  { method, url, headers = {}, body }: Question,
  signal?: AbortSignal,
): Promise<{ status: number; headers: Headers; text: string }> {
  const timeoutMs = environment.SIGN_IN_TIMEOUT_SECONDS * 1000
  const deadline = AbortSignal.timeout(timeoutMs)
  const reply = await sendUnsigned(transport, {
    method,
    url,
    headers: { accept: 'application/json', 'user-agent': 'model-gateway', ...headers },
    ...(body === undefined ? {} : { body }),
    connectTimeoutMs: timeoutMs,
    firstByteTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
    signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
  })
  const type = reply.headers['content-type']
  return {
    status: reply.status,
    headers: new Headers(type === undefined ? {} : { 'content-type': type }),
    text: await reply.text(mostBytes),
  }
}

/**
 * The JSON of a successful answer; whatever else happens is the provider's failure. Null where the answer has one of the `refusals`, the
 * statuses by which a provider keeps to itself what a sign-in can do without.
 */
export const askJson = (
  deps: AskDeps,
  provider: Provider,
  { refusals = [], ...question }: Question & { refusals?: readonly number[] },
): Promise<unknown> =>
  orProviderFailed(deps, provider, async () => {
    const { status, text } = await ask(deps, question)
    if (refusals.includes(status)) {
      deps.log.info({ provider, url: question.url, status }, 'a sign-in provider refused what a sign-in can do without')
      return null
    }
    if (status < 200 || status > 299) throw new Error(`answered with status ${status}`)
    return JSON.parse(text) as unknown
  })

/**
 * Runs a conversation with a provider. Refusals pass; everything else is logged by its message alone, since what providers
 * answer may hold tokens, and reported as one sentence.
 */
export async function orProviderFailed<Result>(
  { log }: Pick<Deps, 'log'>,
  provider: Provider,
  exchange: () => Promise<Result>,
): Promise<Result> {
  try {
    return await exchange()
  } catch (error) {
    if (error instanceof DomainError) throw error
    const reason = error instanceof SyntaxError ? 'answered with no JSON' : messageOf(error)
    log.warn({ provider, reason }, 'a sign-in provider failed')
    throw refusalOf('provider_failed', provider, { cause: error })
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
