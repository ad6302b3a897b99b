import { has, takeDirectives } from '../directives.ts'
import { asText } from '../prompt.ts'
import { json, type PlainOperation, type Vendor } from '../types.ts'
import type { SimulatedTask } from '../types.ts'
import { askAfter, type TaskState, startTask } from './task.ts'

/** A music service: jobs go in, and are asked after. */
export const music: Vendor = {
  id: 'music',
  keyOf: ({ headers }) => /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1],
  missingKey: { status: 401, message: 'unauthorized' },
  badKey: { status: 401, message: 'unauthorized' },
  error: ({ message, code }) => ({ body: { code: code ?? 'error', message, data: null } }),
  streamError: ({ message }) => ({ data: JSON.stringify({ code: 'error', message, data: null }) }),
}

export const submitMusic: PlainOperation = {
  type: 'plain',
  reply: (call) => {
    const words = asText(call.body['gpt_description_prompt']) || asText(call.body['prompt'])
    const { text, directives: fromText } = takeDirectives(words)
    const directives = { ...call.directives, ...fromText }
    const refused = directives['code']
    if (refused !== undefined) return json({ code: refused, message: directives['message'] ?? 'refused', data: null })
    const action = call.path.slice(call.path.lastIndexOf('/') + 1)
    const task = startTask(call, { action, prompt: text, directives })
    return json({ code: 'success', message: '', data: has(directives, 'blank') ? '' : task.id })
  },
}

const statuses: Record<TaskState['stage'], string> = {
  waiting: 'QUEUED',
  running: 'IN_PROGRESS',
  succeeded: 'SUCCESS',
  failed: 'FAILURE',
}

function clipsOf({ id, action, prompt }: SimulatedTask): unknown {
  if (action === 'LYRICS') return { id, status: 'complete', title: prompt.slice(0, 40), text: `[Verse]\n${prompt}` }
  const clip = (number: number) => ({
    id: `${id}-${number}`,
    title: prompt.slice(0, 40),
    audio_url: `https://music.example/${id}-${number}.mp3`,
    video_url: '',
    image_url: `https://music.example/${id}-${number}.jpeg`,
    status: 'complete',
    metadata: { tags: 'pop', prompt, duration: 120 },
  })
  return [clip(1), clip(2)]
}

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000)

function report({ task, state }: { task: SimulatedTask; state: TaskState }) {
  const ended = state.stage === 'succeeded' || state.stage === 'failed'
  return {
    task_id: task.id,
    notify_hook: '',
    action: task.action,
    status: statuses[state.stage],
    fail_reason: state.reason,
    submit_time: seconds(task.submittedAt),
    start_time: state.stage === 'waiting' ? 0 : seconds(task.submittedAt),
    finish_time: ended ? seconds(Date.now()) : 0,
    progress: '',
    data: state.stage === 'succeeded' ? clipsOf(task) : [],
    ...task.override,
  }
}

export const fetchMusic: PlainOperation = {
  type: 'plain',
  reply: (call) => json({ code: 'success', message: '', data: askAfter(call).map(report) }),
}
