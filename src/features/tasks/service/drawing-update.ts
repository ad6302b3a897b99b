import { LockMode } from '@mikro-orm/postgresql'
import { finished, outcomeOf, shownProgress } from '#core/tasks/progress.ts'
import { DrawingTask } from '#db/entities/drawing-task.ts'
import { type DrawingReport, instantOf } from './drawing-report.ts'
import { refundTask } from './refund.ts'
import { storableJson, storableText } from './storable.ts'
import type { TaskServices } from './task-channels.ts'

type Columns = Partial<
  Pick<
    DrawingTask,
    | 'code'
    | 'status'
    | 'progress'
    | 'promptEn'
    | 'state'
    | 'startedAt'
    | 'finishedAt'
    | 'imageUrl'
    | 'videoUrl'
    | 'videoUrls'
    | 'failReason'
    | 'buttons'
    | 'properties'
  >
>

/** What a report changes; null when it says nothing new. */
export function changesOf(task: DrawingTask, report: DrawingReport, now: Date): Columns | null {
  const known = { ...report, progress: report.progress || task.progress, failReason: report.failReason }
  const outcome = outcomeOf(known)
  const columns: Columns = {
    code: 1,
    status: outcome === 'failed' ? 'FAILURE' : storableText(report.status || task.status),
    progress: shownProgress(outcome, storableText(known.progress)),
    promptEn: storableText(report.promptEn || task.promptEn),
    state: storableText(report.state || task.state),
    startedAt: instantOf(report.startTime) ?? task.startedAt ?? null,
    finishedAt: instantOf(report.finishTime) ?? task.finishedAt ?? (outcome === 'running' ? null : now),
    imageUrl: storableText(report.imageUrl || task.imageUrl),
    videoUrl: storableText(report.videoUrl || task.videoUrl),
    videoUrls: storableJson(report.videoUrls ?? task.videoUrls ?? null),
    failReason: storableText(report.failReason || (outcome === 'succeeded' ? '' : task.failReason)),
    buttons: storableJson(report.buttons ?? task.buttons ?? null),
    properties: storableJson(report.properties ?? task.properties ?? null),
  }
  const isNews = Object.entries(columns).some(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(task[name as keyof Columns] ?? null),
  )
  return isNews ? columns : null
}

/** What an unfinished task that nobody will report on any more ends as. */
export const givenUp = (reason: string, now: Date): Columns => ({
  status: 'FAILURE',
  progress: finished,
  failReason: reason,
  finishedAt: now,
})

/**
 * Writes what became of a task. Whoever ends it, ends it alone: a second one finds it finished. A failure gives the charge
 * back in the same transaction; while it is not known whether there is a charge, the task has to wait.
 */
export async function updateDrawing(services: TaskServices, id: number, columns: Columns): Promise<void> {
  const em = services.database.orm.em.fork()
  await em.transactional(async (tx) => {
    const task = await tx.findOne(
      DrawingTask,
      { id, progress: { $ne: finished } },
      { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true },
    )
    if (!task) return
    const ends = columns.progress === finished
    if (ends && task.chargePending) return
    await tx.nativeUpdate(DrawingTask, { id }, columns)
    if (ends && columns.status === 'FAILURE') {
      await refundTask(tx, services, { task, name: '绘图', taskId: task.mjId || `#${task.id}` })
    }
  })
}
