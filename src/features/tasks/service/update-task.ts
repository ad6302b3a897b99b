import { type EntityData, type EntityManager, type EntityName, type FilterQuery, LockMode } from '@mikro-orm/postgresql'
import { finished } from '#core/tasks/progress.ts'
import type { UpstreamChannel } from '#relay/upstream-call/channel.ts'
import { reasonOf, type TaskServices } from './task-channels.ts'

type Task = { id: number; progress: string; chargePending: boolean }

/** What an unfinished task that nobody will report on any more ends as. */
export const givenUp = (reason: string, now: Date) => ({
  status: 'FAILURE',
  progress: finished,
  failReason: reason,
  finishedAt: now,
})

/** The columns of a report; null when it says nothing new. */
export function newsIn<Columns extends object>(task: object, columns: Columns): Columns | null {
  const known = task as Record<string, unknown>
  const isNews = Object.entries(columns).some(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(known[name] ?? null),
  )
  return isNews ? columns : null
}

/**
 * Writes what became of a task. Whoever ends it, ends it alone: a second one finds it finished. A failure gives the charge
 * back in the same transaction; while it is not known whether there is a charge, the task has to wait.
 */
export async function updateTask<Row extends Task>(
  services: TaskServices,
  entity: EntityName<Row>,
  update: {
    id: number
    columns: { status?: string; progress?: string; updatedAt?: Date }
    refund: (tx: EntityManager, task: Row) => Promise<void>
  },
): Promise<void> {
  const { id, columns, refund } = update
  await services.database.orm.em.fork().transactional(async (tx) => {
    const unfinished = { id, progress: { $ne: finished } } as FilterQuery<Row>
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const
    const task: Row | null = await tx.findOne(entity, unfinished, lock)
    if (!task) return
    const ends = columns.progress === finished
    if (ends && task.chargePending) return
    await tx.nativeUpdate(entity, { id } as FilterQuery<Row>, columns as EntityData<Row>)
    if (ends && columns.status === 'FAILURE') await refund(tx, task)
  })
}

/** Takes the news of each task of a channel. One whose report cannot be written down keeps no other from its news. */
export async function updateEach<Row extends { id: number }>(
  { log }: Pick<TaskServices, 'log'>,
  { tasks, place }: { tasks: readonly Row[]; place: UpstreamChannel },
  update: (task: Row) => Promise<void>,
): Promise<void> {
  for (const task of tasks) {
    await update(task).catch((error: unknown) => {
      const reason = reasonOf(error, place)
      log.warn({ reason, channel: place.id, task: task.id }, 'what a channel reports of a task could not be stored')
    })
  }
}

/** Puts tasks at the end of those to ask after. Rounds may overlap, so the rows are locked in the order of their ids. */
export async function markPolled(
  { database, ambient }: TaskServices,
  table: 'drawing_tasks' | 'music_tasks',
  tasks: readonly { id: number }[],
): Promise<void> {
  await database.pool.query(
    `update ${table} set polled_at = $2
     where id in (select id from ${table} where id = any ($1::int[]) order by id for no key update)`,
    [tasks.map(({ id }) => id), ambient.now()],
  )
}
