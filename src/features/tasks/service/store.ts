import type { EntityManager, RequiredEntityData } from '@mikro-orm/postgresql'
import { DrawingTask } from '#db/entities/drawing-task.ts'
import { MusicTask } from '#db/entities/music-task.ts'
import type { Services } from '#features/deps.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { storeCharge } from './charges.ts'
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

/** Keeps a submitted drawing, with its charge where it has one; resolves with its number. */
export const storeDrawing = (services: StoreDeps, row: NewDrawing, charge: ChargeRow | null): Promise<number> =>
  fork(services).transactional(async (tx) => {
    const columns = { ...storable(row), buttons: null, properties: null, videoUrls: null }
    const id: number = await tx.insert(DrawingTask, columns)
    if (charge) await storeCharge(tx, { kind: 'drawing', id }, charge)
    return id
  })

export const storeMusicTask = (services: StoreDeps, row: NewMusicTask, charge: ChargeRow | null): Promise<number> =>
  fork(services).transactional(async (tx) => {
    const id: number = await tx.insert(MusicTask, { ...storable(row), data: null })
    if (charge) await storeCharge(tx, { kind: 'music', id }, charge)
    return id
  })

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
