import { platformOf } from '#core/tasks/platforms.ts'
import { finished, outcomeOf } from '#core/tasks/progress.ts'
import { storableText } from '#core/storable-text.ts'
import { MusicTask } from '#db/entities/music-task.ts'
import { instantOf } from './drawing-report.ts'
import type { MusicReport } from './music-report.ts'
import { refundTask } from './refund.ts'
import { storableJson } from './storable.ts'
import type { TaskServices } from './task-channels.ts'
import { newsIn, updateTask } from './update-task.ts'

type Columns = Partial<
  Pick<
    MusicTask,
    'status' | 'progress' | 'failReason' | 'submittedAt' | 'startedAt' | 'finishedAt' | 'data' | 'updatedAt'
  >
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
  return newsIn(task, columns)
}

/** Writes what became of a music task. */
export const updateMusicTask = (services: TaskServices, id: number, columns: Columns): Promise<void> =>
  updateTask(services, MusicTask, {
    id,
    columns: { ...columns, updatedAt: services.ambient.now() },
    refund: (tx, task) => {
      const name = platformOf(task.platform)?.label ?? task.platform
      return refundTask(tx, services, { task, name, taskId: task.taskId || `#${task.id}` })
    },
  })
