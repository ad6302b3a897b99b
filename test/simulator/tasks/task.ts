import { has, numberOf } from '../directives.ts'
import type { Call, SimulatedTask } from '../types.ts'

export type TaskState = { stage: 'waiting' | 'running' | 'succeeded' | 'failed'; percent: number; reason: string }

export function startTask(call: Call, task: Pick<SimulatedTask, 'action' | 'prompt' | 'directives'>): SimulatedTask {
  // Drawing services count with the clock, and so do ids that have to be unlike those of another run.
  const id = call.nextId(String(Date.now()))
  const started: SimulatedTask = { ...task, id, asked: 0, submittedAt: Date.now() }
  call.tasks.set(id, started)
  return started
}

/** The end comes with the question that `polls` names; `task` says which end, `percent` holds it at a point before. */
function stateOf({ directives, asked }: SimulatedTask): TaskState {
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
export function askAfter(call: Call): { task: SimulatedTask; state: TaskState }[] {
  const ids = Array.isArray(call.body['ids']) ? call.body['ids'].map(String) : []
  return ids.flatMap((id) => {
    const task = call.tasks.get(id)
    if (!task || task.directives['job'] === 'lost') return []
    task.asked += 1
    return [{ task, state: stateOf(task) }]
  })
}
