import { setTimeout as pause } from 'node:timers/promises'
import { mayRetry, retryLimit } from '#core/routing/retry.ts'
import type { Attempt, CallCore, RelayServices } from './call.ts'
import type { AttemptFailed } from './failure.ts'
import type { Selection } from './select.ts'

type Failed = { error: AttemptFailed; attempt: Attempt; number: number; selection: Selection }

/** Whether another channel or key gets its chance after a failed attempt. */
export function mayTryAgain(services: RelayServices, call: CallCore, failed: Failed): boolean {
  const { error, attempt, number, selection } = failed
  if (call.gone.signal.aborted || call.halt.signal.aborted) return false
  const settings = {
    RetryTimes: services.options.get('RetryTimes'),
    'global.auto_retry_enabled': services.options.get('global.auto_retry_enabled'),
    'global.auto_retry_count': services.options.get('global.auto_retry_count'),
    'global.auto_retry_status_codes': services.options.get('global.auto_retry_status_codes'),
  }
  const retriesLeft = retryLimit(settings) - number
  if (error.elsewhere) {
    const outlook = selection.outlook()
    return retriesLeft > 0 && outlook !== null && outlook !== 'again'
  }
  return (
    mayRetry({
      status: error.connection ? 500 : error.failure.status,
      local: error.local,
      channelType: attempt.channel.type,
      pinned: call.pinnedChannel !== null,
      started: false,
      retriesLeft,
      settings,
    }) && selection.outlook() !== null
  )
}

const longestWait = 2000

/** Going back to where this call has been wants a short, jittered pause; a new place is tried at once. */
export async function pauseBeforeRetry(
  services: RelayServices,
  call: CallCore,
  { error, number, selection }: Failed,
): Promise<void> {
  if (selection.outlook() !== 'again') return
  const backOff = 100 * 2 ** Math.min(number, 4) * (0.5 + services.ambient.random())
  const wanted = Math.max(backOff, error.retryAfterMs ?? 0)
  await pause(Math.min(wanted, longestWait), undefined, { signal: call.halt.signal }).catch(() => {})
}
