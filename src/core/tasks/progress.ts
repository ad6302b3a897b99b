export const finished = '100%'

const unfinishedStatuses = new Set(['NOT_START', 'SUBMITTED', 'MODAL', 'QUEUED', 'IN_PROGRESS'])

type Reported = { status: string; progress: string; failReason: string }
export type Outcome = 'running' | 'succeeded' | 'failed'

/**
 * How a task stands by what its upstream reports. A reason to fail counts before the end only: some upstreams keep the
 * reason of an earlier attempt of a task that went well.
 */
export function outcomeOf({ status, progress, failReason }: Reported): Outcome {
  if (status === 'FAILURE') return 'failed'
  if (status === 'SUCCESS') return 'succeeded'
  if (progress === finished && !unfinishedStatuses.has(status)) return 'succeeded'
  return failReason === '' ? 'running' : 'failed'
}

/** A task that runs is never shown as finished, whatever the upstream says of its progress: finished ones are not asked for again. */
export const shownProgress = (outcome: Outcome, progress: string): string =>
  outcome === 'running' ? (progress === finished ? '99%' : progress) : finished
