import { setTimeout as delay } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Changes } from '#db/changes.ts'
import { DomainError } from '#core/errors.ts'
import { cancelledRun } from '#core/jobs.ts'
import { isDatabaseUnavailable } from '#core/database-errors.ts'
import { storableText } from '#core/storable-text.ts'
import type { Services } from '#features/deps.ts'
import type { Alongside, JobOutcome, JobReport, JobRunner } from '#features/jobs/runner.ts'
import { intervalOf, type Job } from './job.ts'
import { askToCancel, claimRun, finishRun, isDue, readStates, type RunHandle, reportProgress } from './run-rows.ts'

/** First half of the advisory locks that say "somebody runs this job". */
export const jobLockClass = 7302

const lookEveryMs = 5000
const reportEveryMs = 1000
const longestCloseMs = 5000

type Given<Needs extends Services> = {
  jobs: readonly Job<Needs>[]
  services: () => Needs
  /** Its session holds the locks, so that they end with this process. */
  changes: Changes
  lookEveryMs?: number | undefined
}

type Running = {
  abort: AbortController
  finished: Promise<JobOutcome> | null
  /** While the run is over and its lock is being given back. */
  unlocking?: Promise<void>
}

/** Runs periodic jobs; of all processes on one database the one that wins a job's lock does its run. */
export function createJobRunner<Needs extends Services>(given: Given<Needs>): JobRunner {
  const { changes } = given
  const running = new Map<string, Running>()
  let stopped = false
  let timer: NodeJS.Timeout | null = null

  const poolOf = () => given.services().database.pool
  const jobOf = (name: string): Job<Needs> => {
    const job = given.jobs.find((one) => one.name === name)
    if (!job) throw new DomainError('job.unknown', { name })
    return job
  }

  // One session can take its own lock twice, so what runs here is asked first.
  const lock = async (name: string): Promise<AbortController | null> => {
    // One that has ended, and has yet to give its lock back, is none.
    await running.get(name)?.unlocking
    if (stopped || running.has(name)) return null
    const abort = new AbortController()
    running.set(name, { abort, finished: null })
    try {
      const { rows } = await changes.query('select pg_try_advisory_lock($1, hashtext($2)) as taken', [
        jobLockClass,
        name,
      ])
      if (rows[0]?.taken === true) return abort
    } catch (error) {
      running.delete(name)
      throw error
    }
    running.delete(name)
    return null
  }

  const unlock = async (name: string): Promise<void> => {
    const giveBack = async (): Promise<void> => {
      // A session that was lost took its lock along.
      await changes.query('select pg_advisory_unlock($1, hashtext($2))', [jobLockClass, name]).catch(() => {})
      running.delete(name)
    }
    const unlocking = giveBack()
    const ended = running.get(name)
    if (ended) ended.unlocking = unlocking
    await unlocking
  }

  const transactional: EntityManager['transactional'] = (act) =>
    given.services().database.orm.em.fork().transactional(act)

  /** `alongside`: by hand, and written down in the transaction that claims the run. */
  const begin = async (job: Job<Needs>, alongside?: Alongside): Promise<{ finished: Promise<JobOutcome> } | null> => {
    const abort = await lock(job.name)
    if (!abort) return null
    try {
      const everySeconds = intervalOf(job, given.services().options)
      const handle = await transactional(async (em) => {
        const claimed = await claimRun(em, { name: job.name, byHand: alongside !== undefined, everySeconds })
        if (claimed) await alongside?.(em)
        return claimed
      })
      if (!handle) {
        await unlock(job.name)
        return null
      }
      const finished = perform(given.services(), job, { handle, abort }).finally(() => unlock(job.name))
      running.set(job.name, { abort, finished })
      return { finished }
    } catch (error) {
      await unlock(job.name)
      throw error
    }
  }

  const look = async (): Promise<void> => {
    const { options, log } = given.services()
    try {
      const states = await readStates(poolOf())
      for (const job of given.jobs) {
        if (isDue(states.get(job.name), intervalOf(job, options))) await begin(job)
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'looking for due jobs failed')
    }
    if (!stopped) timer = setTimeout(() => void look(), given.lookEveryMs ?? lookEveryMs)
  }

  const endAll = (reason: 'stopping' | 'lost'): void => {
    for (const { abort } of running.values()) abort.abort(reason)
  }
  // The locks went with the session: others may run these jobs by now.
  changes.onGap(() => endAll('lost'))

  return {
    jobs: given.jobs,
    start: () => {
      timer ??= setTimeout(() => void look(), given.lookEveryMs ?? lookEveryMs)
    },
    run: async (name, alongside = async () => {}) => {
      const started = await begin(jobOf(name), alongside)
      if (!started) throw new DomainError('job.running')
      return started
    },
    cancel: async (name, alongside) => {
      await transactional(async (em) => {
        if (!(await askToCancel(em, jobOf(name).name))) throw new DomainError('job.not_running')
        await alongside?.(em)
      })
      // A run of this process ends at once; that of another one when it next reports.
      running.get(name)?.abort.abort('cancelled')
    },
    stop: async () => {
      stopped = true
      if (timer) clearTimeout(timer)
      endAll('stopping')
      const ends = [...running.values()].flatMap(({ finished }) => (finished ? [finished] : []))
      await Promise.race([Promise.allSettled(ends), delay(longestCloseMs, undefined, { ref: false })])
    },
  }
}

/** One run from its claim to its record. Never rejects: what went wrong is its outcome. */
async function perform<Needs extends Services>(
  services: Needs,
  job: Job<Needs>,
  { handle, abort }: { handle: RunHandle; abort: AbortController },
): Promise<JobOutcome> {
  const { pool } = services.database
  const startedAt = performance.now()
  const far = { done: 0, total: 0 }
  const reporting = setInterval(() => {
    reportProgress(pool, handle, far).then(
      (answer) => {
        if (answer !== 'go-on') abort.abort(answer)
      },
      // The database is away; the next second tries again.
      () => {},
    )
  }, reportEveryMs)
  const outcome = await outcomeOf(services, job, {
    signal: abort.signal,
    byHand: handle.byHand,
    progress: (done, total) => Object.assign(far, { done, total }),
  })
  clearInterval(reporting)
  // Who sees the end of a run sees what it changed.
  await services.barrier()
  const { signal } = abort
  // Left as it stands, so that another process takes it up.
  if (signal.aborted && signal.reason !== 'cancelled') return outcome
  await finishRun(pool, handle, { ...outcome, durationMs: Math.round(performance.now() - startedAt) }).catch(
    (error: unknown) => services.log.error({ err: error, job: job.name }, 'the end of a job could not be recorded'),
  )
  return outcome
}

const cancelled: JobReport = { text: cancelledRun, params: {} }
const longestMessage = 500

async function outcomeOf<Needs extends Services>(
  services: Needs,
  job: Job<Needs>,
  context: Parameters<Job<Needs>['run']>[1],
): Promise<JobOutcome> {
  try {
    const result = await job.run(services, context)
    return { failed: false, report: typeof result === 'string' ? { text: result, params: {} } : result }
  } catch (error) {
    if (context.signal.aborted) return { failed: context.signal.reason !== 'cancelled', report: cancelled }
    services.log.error({ err: error, job: job.name }, 'a job failed')
    const message = error instanceof Error ? error.message : String(error)
    return { failed: true, report: { text: storableText(message.slice(0, longestMessage)), params: {} } }
  }
}
