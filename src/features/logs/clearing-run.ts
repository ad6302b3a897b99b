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
})
type Order = z.infer<typeof order>

/** Orders a run that clears the log in the background, and does not wait for its end. @throws {DomainError} job.running */
export async function startClearing(deps: UserDeps, { before }: { before?: Date | undefined }): Promise<void> {
  if (!before) throw new DomainError('log.time_required')
  if ((await clearingRun(deps))?.running) throw new DomainError('job.running')
  const ordered: Order = { before, actor: { id: deps.actor.id, username: deps.actor.username }, ip: deps.client.ip }
  await deps.em.transactional(async (em) => {
    await em.upsert(InstallationFact, { name: orderFact, value: JSON.stringify(ordered) })
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
