import { DomainError } from '#core/errors.ts'
import { JobRun } from '#db/entities/job-run.ts'
import { type AuditDeps, recordAct } from '#features/audit/service.ts'
import type { Deps } from '#features/deps.ts'
import type { JobRunner } from './runner.ts'
import { type JobView, toJobView } from './view.ts'

type JobDeps = Pick<Deps, 'em' | 'jobs' | 'options'>
/** Of an act by hand. */
type ActDeps = Pick<Deps, 'jobs'> & AuditDeps

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
export async function runJob(deps: ActDeps, { name }: { name: string }): Promise<void> {
  await start(deps, name)
}

/** What does not start leaves no entry, and nothing starts without one. */
const start = (deps: ActDeps, name: string): ReturnType<JobRunner['run']> =>
  deps.jobs.run(name, (em) => recordAct({ ...deps, em }, { action: 'jobs.run', targetType: 'job', targetId: name }))

export const cancelJob = (deps: ActDeps, { name }: { name: string }): Promise<void> =>
  deps.jobs.cancel(name, (em) =>
    recordAct({ ...deps, em }, { action: 'jobs.cancel', targetType: 'job', targetId: name }),
  )

/** Runs a job to its end. @throws {DomainError} when it failed. */
export async function finishJob(deps: ActDeps, { name }: { name: string }): Promise<void> {
  const { finished } = await start(deps, name)
  const { failed } = await finished
  if (failed) throw new DomainError('internal')
}
