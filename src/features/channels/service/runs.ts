import { DomainError, isDomainError } from '#core/errors.ts'
import type { UserDeps } from '#features/deps.ts'
import { cancelJob, finishJob, listJobs, runJob } from '#features/jobs/service.ts'
import type { JobView } from '#features/jobs/view.ts'
import { channelRuns } from '../schema.ts'

type RunDeps = Pick<UserDeps, 'em' | 'jobs' | 'options' | 'actor' | 'client'>

/** How it stands with what runs over all channels. */
export const listRuns = (deps: RunDeps): Promise<JobView[]> => listJobs(deps, channelRuns)

/** Starts a test of all channels; what came of it is read from the run. */
export const testAll = (deps: RunDeps): Promise<void> =>
  runJob(deps, { name: 'channel-tests' }).catch((error: unknown) => {
    throw isDomainError(error) && error.code === 'job.running' ? new DomainError('channel.test_running') : error
  })

export const startBalances = (deps: RunDeps): Promise<void> => runJob(deps, { name: 'channel-balances' })

/** The same, waiting for its end. */
export const finishBalances = (deps: RunDeps): Promise<void> => finishJob(deps, { name: 'channel-balances' })

export const cancelRun = (deps: RunDeps, input: { name: string }): Promise<void> => cancelJob(deps, input)
