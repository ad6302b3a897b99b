/** A stored task, as far as callers see it. */
export type StoredJob = {
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

export const musicTaskObject = (job: StoredJob) => ({
  task_id: job.taskId,
  action: job.action,
  status: job.status,
  fail_reason: job.failReason,
  submit_time: seconds(job.submittedAt),
  start_time: seconds(job.startedAt),
  finish_time: seconds(job.finishedAt),
  progress: job.progress,
  data: job.data ?? null,
})
