import { pollDrawings } from './poll-drawings.ts'
import { pollJobs } from './poll-jobs.ts'
import { settlePending } from './store.ts'
import type { TaskServices } from './task-channels.ts'

/** One round over all tasks that are under way; resolves with how many there were. Several processes may do it at once. */
export async function pollTasks(services: TaskServices): Promise<{ drawings: number; jobs: number }> {
  await settlePending(services)
  const [drawings, jobs] = await Promise.all([pollDrawings(services), pollJobs(services)])
  return { drawings, jobs }
}
