import type { ProviderCall } from '#relay/providers/types.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import { type ExchangedToken, tokenFor } from '#relay/upstream-call/tokens.ts'
import { AttemptFailed } from './failure.ts'
import { upstreamChannelOf } from './upstream-channel.ts'

/** The token of an attempt. */
const used = new WeakMap<Attempt, ExchangedToken>()

/** The call with the token that its channel's key stands for, where the provider wants one. */
export async function withToken(services: RelayServices, attempt: Attempt, call: ProviderCall): Promise<ProviderCall> {
  used.delete(attempt)
  const token = await tokenFor(services, upstreamChannelOf(attempt))
  if (!token) return call
  used.set(attempt, token)
  return { ...call, token: token.value }
}

/** The upstream refused a token that was cached earlier: it is asked for anew, and the try deserves to be made again. */
export const dropRefusedToken = (attempt: Attempt, error: unknown): boolean =>
  error instanceof AttemptFailed &&
  error.closing === undefined &&
  error.failure.status === 401 &&
  used.get(attempt)?.refused() === true
