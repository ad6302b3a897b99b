import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { DomainError } from '#core/errors.ts'
import { InstallationFact } from '#db/entities/installation-fact.ts'
import { recordAct } from '#features/audit/service.ts'
import type { Services, UserDeps } from '#features/deps.ts'
import { cancelJob, listJobs } from '#features/jobs/service.ts'
import type { JobView } from '#features/jobs/view.ts'
import { clearLogs } from './clear.ts'

export const clearingJob = 'log-clearing'
/** What the run is to clear, and who ordered it; a run without an order has nothing to do. */
const orderFact = 'log_clearing_order'
const order = z.object({
  before: z.coerce.date(),
  actor: z.object({ id: z.int(), username: z.string() }),
  ip: z.string(),
  orderedAt: z.coerce.date(),
})
/** Between an order and its run there are only moments. */
const abandonedMs = 60_000
type Order = z.infer<typeof order>

/** Orders a run that clears the log in the background, and does not wait for its end. @throws {DomainError} job.running */
export async function startClearing(deps: UserDeps, { before }: { before?: Date | undefined }): Promise<void> {
  if (!before) throw new DomainError('log.time_required')
  if ((await clearingRun(deps))?.running) throw new DomainError('job.running')
  const actor = { id: deps.actor.id, username: deps.actor.username }
  const ordered: Order = { before, actor, ip: deps.client.ip, orderedAt: deps.ambient.now() }
  await deps.em.transactional(async (em) => {
    if (!(await placeOrder(em, ordered))) throw new DomainError('job.running')
    await recordAct(
      { ...deps, em },
      { action: 'logs.clear', targetType: 'log', targetId: 0, after: { before: before.toISOString() } },
    )
  })
  try {
    await deps.jobs.run(clearingJob)
  } catch (error) {
    // What was refused must not be done by some later run.
    await deps.em.nativeDelete(InstallationFact, { name: orderFact, value: JSON.stringify(ordered) })
    throw error
  }
}

/**
 * One order at a time, so that of two placed at once one is refused rather than done in place of the other. One whose process
 * ended before its run began does not stand in the way for long. False where another one stands.
 */
async function placeOrder(em: EntityManager, ordered: Order): Promise<boolean> {
  const placed = await em.getConnection().execute<unknown[]>(
    `insert into installation_facts as standing (name, value) values (?, ?)
     on conflict (name) do update set value = excluded.value
       where (standing.value::jsonb ->> 'orderedAt')::timestamptz < ?
     returning name`,
    [orderFact, JSON.stringify(ordered), new Date(ordered.orderedAt.getTime() - abandonedMs)],
    'all',
    em.getTransactionContext(),
  )
  return placed.length > 0
}

/** How far the run is, and what came of the last one. */
export const clearingRun = async (deps: UserDeps): Promise<JobView | null> =>
  (await listJobs(deps, [clearingJob]))[0] ?? null

export const cancelClearing = (deps: UserDeps): Promise<void> => cancelJob(deps, { name: clearingJob })

type Run = { signal: AbortSignal; progress: (done: number, total: number) => void }

/** Clears what was ordered. */
export async function runClearing(
  services: Pick<Services, 'database' | 'ambient'>,
  run: Run,
): Promise<{ count: number }> {
  const em = services.database.orm.em.fork()
  const fact = await em.findOne(InstallationFact, { name: orderFact }, { disableIdentityMap: true })
  if (!fact) return { count: 0 }
  try {
    const { before, actor, ip } = order.parse(JSON.parse(fact.value))
    const cleared = await clearLogs(services, { before }, run)
    await recordAct(
      { em, actor, client: { ip } },
      { action: 'logs.cleared', targetType: 'log', targetId: 0, after: { before: before.toISOString(), ...cleared } },
    )
    return cleared
  } finally {
    // One that is done elsewhere, because this process stops, still needs its order.
    if (run.signal.reason !== 'stopping' && run.signal.reason !== 'lost')
      await em.nativeDelete(InstallationFact, { name: orderFact, value: fact.value })
  }
}
