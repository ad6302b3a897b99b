import type { OptionsReader } from '#core/options/registry/index.ts'
import type { Services } from '#features/deps.ts'
import type { JobReport } from '#features/jobs/runner.ts'

export type JobContext = {
  /** Aborts when the run has to end: the process stops, somebody cancelled, or another process goes on with it. */
  signal: AbortSignal
  /** Somebody started it, so it is not its turn. */
  byHand: boolean
  /** How far it is; reported to the console once a second. */
  progress: (done: number, total: number) => void
}

/**
 * Periodic work. Of all processes exactly one does each run; one that was cut off is done again elsewhere, from the start,
 * so a run has to bear having been half done before. `Needs` is what it works with, of what the process has.
 */
export type Job<Needs = Services> = {
  /** Its key in `job_runs` and in `src/core/jobs.ts`. */
  name: string
  /** From one start to the next; 0 and less: only by hand. */
  everySeconds: number | ((options: OptionsReader) => number)
  /** What it throws is recorded as a failure, and it is tried again when its turn comes. */
  run: (services: Needs, context: JobContext) => Promise<JobReport | string>
}

export const intervalOf = (job: Pick<Job<never>, 'everySeconds'>, options: OptionsReader): number =>
  typeof job.everySeconds === 'number' ? job.everySeconds : job.everySeconds(options)
