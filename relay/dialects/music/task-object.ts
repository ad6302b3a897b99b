/** A stored task, as far as callers see it. */
export type StoredMusicTask = {
  taskId: string
  action: string
  status: string
  failReason: string
  submittedAt: Date | null
  startedAt: Date | null
  finishedAt: Date | null
  progress: string
  data: unknown
}

const seconds = (instant: Date | null): number => (instant ? Math.floor(instant.getTime() / 1000) : 0)

export const musicTaskObject = (task: StoredMusicTask) => ({
  task_id: task.taskId,
  action: task.action,
  status: task.status,
  fail_reason: task.failReason,
  submit_time: seconds(task.submittedAt),
  start_time: seconds(task.startedAt),
  finish_time: seconds(task.finishedAt),
  progress: task.progress,
  data: task.data ?? null,
})
