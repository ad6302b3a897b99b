import { setTimeout as pause } from 'node:timers/promises'
import { mayPass, mayRetry, mayRetryEmpty, retryLimit } from '#core/routing/retry.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'
import type { AttemptFailed } from '#relay/attempt/failure.ts'
import type { Selection } from './select.ts'

export type RetryRoute = 'text' | 'task' | 'drawing'

type Failed = {
  error: AttemptFailed
  attempt: Attempt
  number: number
  /** Statuses of the attempts before. */
  before: readonly number[]
  selection: Selection
  route: RetryRoute
}

/** A cooldown that an upstream asked for is waited for only below this, and only when every candidate is in one. */
const longestWaitMs = 2000

/** The further attempt a failed one leads to, and the pause before it; null ends the call. */
export function planRetry(services: RelayServices, call: CallCore, failed: Failed): { waitMs: number } | null {
  const { error, attempt, number, before, selection, route } = failed
  if (call.callerAborted.signal.aborted || call.upstreamAbort.signal.aborted || error.mayBeTaken) return null
  if (error.closing !== undefined) return null
  const nextPlace = selection.nextPlace()
  if (!nextPlace) return null
  const settings = retrySettings(services)
  const retriesLeft = retryLimit(settings) - number
  // Nothing was sent there, so nothing is repeated.
  if (error.elsewhere) return retriesLeft > 0 && nextPlace.state !== 'again' ? { waitMs: 0 } : null
  const pinned = call.pinnedChannel !== null
  const allowed = error.deliver
    ? mayRetryEmpty({ pinned, retriesLeft, settings })
    : mayRetry({
        status: error.connection ? 500 : error.failure.status,
        local: error.local,
        channelType: attempt.channel.type,
        pinned,
        started: false,
        retriesLeft,
        route,
        settings,
      })
  if (!allowed) return null
  // What every place has refused, each refuses again, unless the operator's own list says to ask them.
  const statuses = [...before, error.failure.status].slice(-nextPlace.asked)
  if (nextPlace.state === 'again' && !settings['global.auto_retry_enabled'] && !statuses.some(mayPass)) return null
  const { askedCooldownMs } = nextPlace
  if (!nextPlace.healthy && (askedCooldownMs >= longestWaitMs || !services.retryBudget.take())) return null
  // Going back to where this call has been wants a short, jittered pause; a new place is tried at once.
  const backOffMs = nextPlace.state === 'again' ? 100 * 2 ** Math.min(number, 4) * (0.5 + services.ambient.random()) : 0
  return { waitMs: Math.min(Math.max(backOffMs, askedCooldownMs), longestWaitMs) }
}

const retrySettings = ({ options }: RelayServices) => ({
  RetryTimes: options.get('RetryTimes'),
  'global.auto_retry_enabled': options.get('global.auto_retry_enabled'),
  'global.auto_retry_count': options.get('global.auto_retry_count'),
  'global.auto_retry_status_codes': options.get('global.auto_retry_status_codes'),
})

/** Resolves with false when the caller left meanwhile, or the process may wait no longer. */
export async function pauseBeforeRetry(call: CallCore, { waitMs }: { waitMs: number }): Promise<boolean> {
  if (waitMs > 0) await pause(waitMs, undefined, { signal: call.upstreamAbort.signal }).catch(() => {})
  return !call.callerAborted.signal.aborted && !call.upstreamAbort.signal.aborted
}
