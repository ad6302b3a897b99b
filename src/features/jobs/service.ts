import { DomainError } from '#core/errors.ts'
import { JobRun } from '#db/entities/job-run.ts'
import type { Deps } from '#features/deps.ts'
import { type JobView, toJobView } from './view.ts'

type JobDeps = Pick<Deps, 'em' | 'jobs' | 'options'>

/** Every job in the order of the list, or those of the names. */
export async function listJobs({ em, jobs, options }: JobDeps, names?: readonly string[]): Promise<JobView[]> {
  const runs = await em.find(JobRun, {}, { disableIdentityMap: true })
  const runOf = new Map(runs.map((run) => [run.name, run]))
  return jobs.jobs
    .filter(({ name }) => !names || names.includes(name))
    .map(({ name, everySeconds }) =>
      toJobView(
        { name, everySeconds: typeof everySeconds === 'number' ? everySeconds : everySeconds(options) },
        runOf.get(name),
      ),
    )
}

/** Starts a run and does not wait for its end. */
export async function runJob({ jobs }: Pick<Deps, 'jobs'>, { name }: { name: string }): Promise<void> {
  await jobs.run(name)
}

export const cancelJob = ({ jobs }: Pick<Deps, 'jobs'>, { name }: { name: string }): Promise<void> => jobs.cancel(name)

/** Runs a job to its end. @throws {DomainError} when it failed. */
export async function finishJob({ jobs }: Pick<Deps, 'jobs'>, { name }: { name: string }): Promise<void> {
  const { finished } = await jobs.run(name)
  const { failed } = await finished
  if (failed) throw new DomainError('internal')
}
