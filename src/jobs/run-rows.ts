import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import type { TimedQuery } from '#db/connection.ts'
import type { JobReport } from '#features/jobs/runner.ts'

/** A run that was cut off is taken up again after a pause, a longer one each time: it may be what kills its process. */
const firstPauseSeconds = 5
const longestPauseSeconds = 3600

/** How it stands with a job, by the clock of the database. */
export type JobState = {
  name: string
  /** Null while no run has ended. */
  secondsSinceStart: number | null
  /** Null while none goes on. */
  secondsRunning: number | null
  attempts: number
}

/** Names one run: nobody else's writes fit it. */
export type RunHandle = { name: string; runningSince: Date | string; byHand: boolean }

/** A database that is gone without a word ends no look for ever: no other begins before it. */
const answerWithinMs = 5000

export async function readStates(pool: Pool): Promise<Map<string, JobState>> {
  const asked: TimedQuery = {
    text: `select name, attempts, extract(epoch from now() - started_at)::float8 as "secondsSinceStart",
       extract(epoch from now() - running_since)::float8 as "secondsRunning" from job_runs`,
    query_timeout: answerWithinMs,
  }
  const { rows } = await pool.query<JobState>(asked)
  return new Map(rows.map((row) => [row.name, row]))
}

const pauseAfter = (attempts: number): number => Math.min(firstPauseSeconds * 2 ** attempts, longestPauseSeconds)

/** Whether a job that nobody holds should run now. */
export function isDue(state: JobState | undefined, everySeconds: number): boolean {
  if (state && state.secondsRunning !== null) return state.secondsRunning >= pauseAfter(state.attempts)
  if (everySeconds <= 0) return false
  return state === undefined || state.secondsSinceStart === null || state.secondsSinceStart >= everySeconds
}

/**
 * Begins a run; whoever calls holds the lock of the job. A run that was cut off goes on under the word of whoever began it.
 * Null when the interval is given and another process ran it a moment ago.
 */
export async function claimRun(
  em: EntityManager,
  { name, byHand, everySeconds }: { name: string; byHand: boolean; everySeconds: number },
): Promise<RunHandle | null> {
  const [row] = await em.getConnection().execute<{ running_since: Date | string; by_hand: boolean }[]>(
    `insert into job_runs as j (name, running_since, by_hand)
     values (?, date_trunc('milliseconds', clock_timestamp()), ?)
     on conflict (name) do update set running_since = excluded.running_since, done = 0, total = 0, cancel_wanted = false,
       by_hand = excluded.by_hand or (j.running_since is not null and j.by_hand),
       attempts = case when j.running_since is null or excluded.by_hand then 0 else j.attempts + 1 end
     where excluded.by_hand or case when j.running_since is null
       then ? > 0 and (j.started_at is null or j.started_at <= now() - make_interval(secs => ?))
       else j.running_since <= now() - make_interval(secs => least(? * 2 ^ j.attempts, ?)) end
     returning running_since, by_hand`,
    [name, byHand, everySeconds, everySeconds, firstPauseSeconds, longestPauseSeconds],
    'all',
    em.getTransactionContext(),
  )
  return row ? { name, runningSince: row.running_since, byHand: row.by_hand } : null
}

/** Reports how far a run is, and reads whether somebody wants it ended, or whether it is not ours any more. */
export async function reportProgress(
  pool: Pool,
  run: RunHandle,
  { done, total }: { done: number; total: number },
): Promise<'go-on' | 'cancelled' | 'lost'> {
  const { rows } = await pool.query<{ cancel_wanted: boolean }>(
    'update job_runs set done = $3, total = $4 where name = $1 and running_since = $2 returning cancel_wanted',
    [run.name, run.runningSince, done, total],
  )
  const [row] = rows
  if (!row) return 'lost'
  return row.cancel_wanted ? 'cancelled' : 'go-on'
}

export async function finishRun(
  pool: Pool,
  run: RunHandle,
  end: { report: JobReport; failed: boolean; durationMs: number },
): Promise<void> {
  await pool.query(
    `update job_runs set started_at = running_since, running_since = null, duration_ms = $3, result = $4, params = $5, failed = $6,
       attempts = 0, cancel_wanted = false
     where name = $1 and running_since = $2`,
    [
      run.name,
      run.runningSince,
      end.durationMs,
      end.report.text.replaceAll('\0', ''),
      JSON.stringify(end.report.params).replaceAll('\\u0000', ''),
      end.failed,
    ],
  )
}

/** Asks for the end of a run, wherever it goes on. */
export async function askToCancel(em: EntityManager, name: string): Promise<boolean> {
  const asked = await em
    .getConnection()
    .execute<unknown[]>(
      'update job_runs set cancel_wanted = true where name = ? and running_since is not null returning name',
      [name],
      'all',
      em.getTransactionContext(),
    )
  return asked.length > 0
}
