import type { EntityManager, RequiredEntityData } from '@mikro-orm/postgresql'
import { DrawingTask } from '#db/entities/drawing-task.ts'
import { MusicTask } from '#db/entities/music-task.ts'
import type { Services } from '#features/deps.ts'
import { storableJson } from './storable.ts'

type StoreDeps = Pick<Services, 'database'>
export type NewDrawing = Omit<RequiredEntityData<DrawingTask>, 'buttons' | 'properties' | 'videoUrls'>
export type NewMusicTask = Omit<RequiredEntityData<MusicTask>, 'data'>

const isPlain = (value: unknown): boolean =>
  typeof value === 'string' || Array.isArray(value) || Object.getPrototypeOf(value ?? 0) === Object.prototype

const storable = <Row extends object>(row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isPlain(value) ? storableJson(value) : value]),
  ) as Row

const fork = ({ database }: StoreDeps): EntityManager => database.orm.em.fork()

/** Keeps a submitted drawing; resolves with its number. */
export const storeDrawing = (services: StoreDeps, row: NewDrawing): Promise<number> =>
  fork(services).insert(DrawingTask, { ...storable(row), buttons: null, properties: null, videoUrls: null })

export const storeMusicTask = (services: StoreDeps, row: NewMusicTask): Promise<number> =>
  fork(services).insert(MusicTask, { ...storable(row), data: null })

/** The charge of a stored task, its quota, is committed, or was given up: `null`. */
export async function markCharge(
  services: StoreDeps,
  task: { kind: 'drawing' | 'music'; id: number },
  charged: number | null,
): Promise<void> {
  // Whoever took this process for dead has set the quota to 0 meanwhile.
  const columns = { chargePending: false, quota: charged ?? 0 }
  const em = fork(services)
  await (task.kind === 'drawing'
    ? em.nativeUpdate(DrawingTask, { id: task.id }, columns)
    : em.nativeUpdate(MusicTask, { id: task.id }, columns))
}

/**
 * Decides the tasks whose process died, or lost the database, around their charge: what the hold has come to shows whether
 * it was committed. While the hold is open nothing is known yet. One that was lost with the database is distinguished from a settled
 * one by what the ledger remembers; where nothing shows it any more, the task is taken as charged.
 */
export async function settlePending({ database }: StoreDeps): Promise<void> {
  for (const table of ['drawing_tasks', 'music_tasks']) {
    await database.pool.query(
      // Rounds may overlap: locked in one order.
      `with pending as (select id from ${table} t where t.charge_pending and t.progress <> '100%'
           and not exists (select 1 from holds h where h.id = t.request_id and h.status = 'open')
         order by id for no key update)
       update ${table} t set charge_pending = false,
         quota = case
           when exists (select 1 from holds h where h.id = t.request_id and h.status in ('released', 'void')) then 0
           when ledger_outcome(t.request_id, extract(epoch from now() - t.submitted_at + interval '1 minute')::float8) is false then 0
           else t.quota end
       from pending where t.id = pending.id`,
    )
  }
}

/** A user's own drawings by the upstream's ids; of several submissions that led to one task the newest. */
export async function findOwnDrawings(services: StoreDeps, userId: number, mjIds: string[]): Promise<DrawingTask[]> {
  if (mjIds.length === 0) return []
  const rows = await fork(services).find(
    DrawingTask,
    { userId, mjId: { $in: mjIds } },
    { orderBy: { id: 'asc' }, disableIdentityMap: true },
  )
  return [...new Map(rows.map((row) => [row.mjId, row])).values()]
}

/** A drawing by the upstream's id, whoever's it is. */
export const findDrawing = (services: StoreDeps, mjId: string): Promise<DrawingTask | null> =>
  mjId === ''
    ? Promise.resolve(null)
    : fork(services).findOne(DrawingTask, { mjId }, { orderBy: { id: 'desc' }, disableIdentityMap: true })

/** A user's own jobs on one platform. */
export async function findOwnMusicTasks(
  services: StoreDeps,
  owner: { userId: number; platform: string },
  taskIds: string[],
): Promise<MusicTask[]> {
  if (taskIds.length === 0) return []
  const rows = await fork(services).find(
    MusicTask,
    { ...owner, taskId: { $in: taskIds } },
    { orderBy: { id: 'asc' }, disableIdentityMap: true },
  )
  return [...new Map(rows.map((row) => [row.taskId, row])).values()]
}
