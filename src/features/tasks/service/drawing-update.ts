import { outcomeOf, shownProgress } from '#core/tasks/progress.ts'
import { storableText } from '#core/storable-text.ts'
import { DrawingTask } from '#db/entities/drawing-task.ts'
import { type DrawingReport, instantOf } from './drawing-report.ts'
import { refundTask } from './refund.ts'
import { storableJson } from './storable.ts'
import type { TaskServices } from './task-channels.ts'
import { newsIn, updateTask } from './update-task.ts'

type Columns = Partial<
  Pick<
    DrawingTask,
    | 'code'
    | 'status'
    | 'progress'
    | 'prompt'
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

/** Programs read what an image was described as where the prompt of others stands. */
const promptOf = (task: DrawingTask, report: DrawingReport): string =>
  task.action === 'DESCRIBE' ? report.prompt || report.promptEn || task.prompt : task.prompt || report.prompt

/** What a report changes; null when it says nothing new. */
export function changesOf(task: DrawingTask, report: DrawingReport, now: Date): Columns | null {
  const known = { ...report, progress: report.progress || task.progress, failReason: report.failReason }
  const outcome = outcomeOf(known)
  const columns: Columns = {
    code: 1,
    status: outcome === 'failed' ? 'FAILURE' : storableText(report.status || task.status),
    progress: shownProgress(outcome, storableText(known.progress)),
    prompt: storableText(promptOf(task, report)),
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
  return newsIn(task, columns)
}

/** Writes what became of a drawing. */
export const updateDrawing = (services: TaskServices, id: number, columns: Columns): Promise<void> =>
  updateTask(services, DrawingTask, {
    id,
    columns,
    refund: (tx, task) => refundTask(tx, services, { task, name: '绘图', taskId: task.mjId || `#${task.id}` }),
  })
