import { pollDrawings } from './poll-drawings.ts'
import { pollJobs } from './poll-jobs.ts'
import { settlePending } from './store.ts'
import type { TaskServices } from './task-channels.ts'

/** One round over all tasks that are under way. Several processes may do it at once. */
export async function pollTasks(services: TaskServices): Promise<void> {
  await settlePending(services)
  await Promise.all([pollDrawings(services), pollJobs(services)])
}
