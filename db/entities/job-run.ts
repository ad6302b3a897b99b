import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** The last run of a periodic job, and the one that goes on now. */
export const JobRun = defineEntity({
  name: 'JobRun',
  tableName: 'job_runs',
  properties: {
    name: p.text().primary(),
    /** Of the last run that ended, as the next three; null while none has. */
    startedAt: p.datetime().nullable(),
    durationMs: p.integer().nullable(),
    /** A sentence; `params` fill it. */
    result: p.text().default(''),
    params: p.json().$type<Record<string, string | number>>().nullable(),
    failed: p.boolean().default(false),
    /** Set while a run goes on, and left set by a process that died in the middle. */
    runningSince: p.datetime().nullable(),
    /** Somebody started the run that goes on. */
    byHand: p.boolean().default(false),
    done: p.integer().default(0),
    total: p.integer().default(0),
    cancelWanted: p.boolean().default(false),
    /** Runs in a row that were cut off. */
    attempts: p.integer().default(0),
  },
})

export type JobRun = InferEntity<typeof JobRun>
