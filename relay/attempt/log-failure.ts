import type { Attempt, AttemptRecord, CallCore, RelayServices } from '#relay/request/call.ts'
import { callColumns } from '#relay/billing/log-row.ts'
import type { AttemptFailed } from './failure.ts'

type FailedAttempt = { attempt: Attempt; attempts: AttemptRecord[]; error: AttemptFailed }

const longestContent = 4000

/** One row for an attempt the upstream failed, when the operator wants such rows. Costs nothing, moves no counter. */
export function logFailedAttempt(
  services: RelayServices,
  call: CallCore,
  { attempt, attempts, error }: FailedAttempt,
): void {
  if (error.local || !services.options.get('LogErrorEnabled')) return
  const { failure } = error
  services.failureLog.add({
    ...callColumns(call, attempt),
    content: `status code ${failure.status}: ${failure.message}`.slice(0, longestContent),
    useTimeMs: Math.round(performance.now() - call.startedAt),
    isStream: call.stream,
    requestId: call.id,
    other: {
      error_type: failure.type,
      error_code: failure.code,
      status_code: failure.status,
      channel_id: attempt.channel.id,
      channel_name: attempt.channel.name,
      channel_type: attempt.channel.type,
      admin_info: { use_channel: attempts.map((record) => String(record.channel_id)), attempts: [...attempts] },
    },
  })
}
