import type { JobRun } from '#db/entities/job-run.ts'

export type JobView = ReturnType<typeof toJobView>

/** A job with its last run that ended and the one that goes on. */
export const toJobView = (job: { name: string; everySeconds: number }, run: JobRun | undefined) => ({
  name: job.name,
  /** 0: only by hand. */
  everySeconds: Math.max(0, job.everySeconds),
  running: run?.runningSince
    ? { since: run.runningSince, byHand: run.byHand, done: run.done, total: run.total, ending: run.cancelWanted }
    : null,
  last: run?.startedAt
    ? {
        startedAt: run.startedAt,
        durationMs: run.durationMs ?? 0,
        text: run.result,
        params: run.params ?? {},
        failed: run.failed,
      }
    : null,
  nextAt: nextOf(job.everySeconds, run),
})

/** Null where it is started by hand only, or due as soon as somebody looks. */
function nextOf(everySeconds: number, run: JobRun | undefined): Date | null {
  if (everySeconds <= 0 || !run?.startedAt) return null
  return new Date((run.runningSince ?? run.startedAt).getTime() + everySeconds * 1000)
}
