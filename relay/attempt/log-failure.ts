import type { Attempt, AttemptRecord, CallCore, RelayServices } from '#relay/request/call.ts'
import { callColumns } from '#relay/billing/log-row.ts'
import type { AttemptFailed } from './failure.ts'
import type { FailureRow } from './failure-log.ts'

export type FailedAttempt = { attempt: Attempt; attempts: AttemptRecord[]; error: AttemptFailed }

const longestContent = 4000

/** Counts an attempt that the upstream failed, whether or not another one follows. */
export const countFailedAttempt = (services: RelayServices, call: CallCore, failed: FailedAttempt): void =>
  add(services, call, { ...failed, kind: 'attempt' })

/** Counts a call that no channel answered, and gives it its one row with all its attempts. It costs nothing. */
export const logFailedCall = (services: RelayServices, call: CallCore, last: FailedAttempt): void =>
  add(services, call, { ...last, kind: 'call' })

function add(
  services: RelayServices,
  call: CallCore,
  { attempt, attempts, error, kind }: FailedAttempt & { kind: FailureRow['failed'] },
): void {
  if (error.local) return
  const { failure } = error
  services.failureLog.add({
    ...callColumns(call, attempt),
    failed: kind,
    logged: kind === 'call' && services.options.get('LogErrorEnabled'),
    content: `status code ${failure.status}: ${failure.message}`.slice(0, longestContent),
    useTimeMs: Math.round(performance.now() - call.startedAt),
    isStream: call.stream,
    requestId: call.id,
    other: {
      ...call.session,
      error_type: failure.type,
      error_code: failure.code,
      status_code: failure.status,
      ...(failure.refusal ? { refusal: failure.refusal } : {}),
      channel_id: attempt.channel.id,
      channel_name: attempt.channel.name,
      channel_type: attempt.channel.type,
      admin_info: {
        use_channel: attempts.map((record) => String(record.channel_id)),
        attempts: [...attempts],
        // The owner of the row reads what its caller read.
        ...(failure.original ? { upstream_error: failure.original } : {}),
      },
    },
  })
}
