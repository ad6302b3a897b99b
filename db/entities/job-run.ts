import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** The last run of a periodic job. */
export const JobRun = defineEntity({
  name: 'JobRun',
  tableName: 'job_runs',
  properties: {
    name: p.text().primary(),
    startedAt: p.datetime(),
    durationMs: p.integer().nullable(),
    result: p.text().default(''),
    failed: p.boolean().default(false),
  },
})

export type JobRun = InferEntity<typeof JobRun>
