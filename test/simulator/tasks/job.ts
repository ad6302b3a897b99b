import { has, numberOf } from '../directives.ts'
import type { Call, Job } from '../types.ts'

export type JobState = { stage: 'waiting' | 'running' | 'succeeded' | 'failed'; percent: number; reason: string }

export function startJob(call: Call, job: Pick<Job, 'action' | 'prompt' | 'directives'>): Job {
  // Drawing services count with the clock, and so do ids that have to be unlike those of another run.
  const id = call.nextId(String(Date.now()))
  const started: Job = { ...job, id, asked: 0, submittedAt: Date.now() }
  call.jobs.set(id, started)
  return started
}

/** The end comes with the question that `polls` names; `job` says which end, `percent` holds it at a point before. */
function stateOf({ directives, asked }: Job): JobState {
  const course = directives['job'] ?? 'success'
  const needed = Math.max(1, numberOf(directives, 'polls') ?? 2)
  const percent = numberOf(directives, 'percent') ?? Math.min(99, Math.floor((asked / needed) * 100))
  if (course === 'waiting') return { stage: 'waiting', percent: 0, reason: '' }
  if (course === 'running' || has(directives, 'percent') || asked < needed)
    return { stage: 'running', percent, reason: '' }
  if (course === 'failure')
    return { stage: 'failed', percent, reason: directives['message'] ?? 'Simulated failure of the task.' }
  return { stage: 'succeeded', percent: 100, reason: '' }
}

/** The jobs that were asked after, each a step further; those of the course `lost` are not known any more. */
export function askAfter(call: Call): { job: Job; state: JobState }[] {
  const ids = Array.isArray(call.body['ids']) ? call.body['ids'].map(String) : []
  return ids.flatMap((id) => {
    const job = call.jobs.get(id)
    if (!job || job.directives['job'] === 'lost') return []
    job.asked += 1
    return [{ job, state: stateOf(job) }]
  })
}
