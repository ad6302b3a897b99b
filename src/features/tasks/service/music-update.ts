import { LockMode } from '@mikro-orm/postgresql'
import { platformOf } from '#core/tasks/platforms.ts'
import { finished, outcomeOf } from '#core/tasks/progress.ts'
import { MusicTask } from '#db/entities/music-task.ts'
import { instantOf } from './drawing-report.ts'
import type { MusicReport } from './music-report.ts'
import { refundTask } from './refund.ts'
import { storableJson, storableText } from './storable.ts'
import type { TaskServices } from './task-channels.ts'

type Columns = Partial<
  Pick<MusicTask, 'status' | 'progress' | 'failReason' | 'submittedAt' | 'startedAt' | 'finishedAt' | 'data'>
>

/** These platforms report no progress of their own. */
const progressOf = (task: MusicTask, report: MusicReport, outcome: string): string =>
  outcome === 'running' ? (report.status === 'IN_PROGRESS' ? '30%' : task.progress) : finished

/** What a report changes; null when it says nothing new. */
export function changesOf(task: MusicTask, report: MusicReport, now: Date): Columns | null {
  const outcome = outcomeOf({ status: report.status, progress: '', failReason: report.fail_reason })
  const columns: Columns = {
    status: outcome === 'failed' ? 'FAILURE' : storableText(report.status || task.status),
    progress: progressOf(task, report, outcome),
    failReason: storableText(report.fail_reason),
    startedAt: instantOf(report.start_time) ?? task.startedAt ?? null,
    finishedAt: instantOf(report.finish_time) ?? task.finishedAt ?? (outcome === 'running' ? null : now),
    data: storableJson(report.data ?? task.data ?? null),
  }
  const isNews = Object.entries(columns).some(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(task[name as keyof Columns] ?? null),
  )
  return isNews ? columns : null
}

/** What an unfinished job that nobody will report on any more ends as. */
export const givenUp = (reason: string, now: Date): Columns => ({
  status: 'FAILURE',
  progress: finished,
  failReason: reason,
  finishedAt: now,
})

/** Writes what became of a job; see `updateDrawing`. */
export async function updateMusicTask(services: TaskServices, id: number, columns: Columns): Promise<void> {
  const em = services.database.orm.em.fork()
  await em.transactional(async (tx) => {
    const task = await tx.findOne(
      MusicTask,
      { id, progress: { $ne: finished } },
      { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true },
    )
    if (!task) return
    const ends = columns.progress === finished
    if (ends && task.chargePending) return
    await tx.nativeUpdate(MusicTask, { id }, { ...columns, updatedAt: services.ambient.now() })
    if (ends && columns.status === 'FAILURE') {
      const name = platformOf(task.platform)?.label ?? task.platform
      await refundTask(tx, services, { task, name, taskId: task.taskId || `#${task.id}` })
    }
  })
}
