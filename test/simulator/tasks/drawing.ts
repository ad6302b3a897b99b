import { has, numberOf, takeDirectives } from '../directives.ts'
import { asText } from '../prompt.ts'
import { type Call, json, type PlainOperation, type Reply, type Vendor } from '../types.ts'
import type { SimulatedTask } from '../types.ts'
import { askAfter, type TaskState, startTask } from './task.ts'

/** A self-hosted drawing service. */
export const drawing: Vendor = {
  id: 'drawing',
  keyOf: ({ headers }) => {
    const key = headers['mj-api-secret']
    return typeof key === 'string' ? key : undefined
  },
  missingKey: { status: 401, message: 'unauthorized' },
  badKey: { status: 401, message: 'unauthorized' },
  error: ({ status, message, code }) => ({ body: { code: code ?? (status === 401 ? 5 : 4), description: message } }),
  streamError: ({ message }) => ({ data: JSON.stringify({ code: 5, description: message }) }),
}

const descriptions: Record<number, string> = {
  1: '提交成功',
  3: '无可用的账号实例',
  4: '参数错误',
  5: '未知错误',
  21: '任务已存在',
  22: '排队中，前面还有1个任务',
  23: '队列已满，请稍后尝试',
  24: '可能包含敏感词',
  30: '实例繁忙',
}

const imageAt = ({ headers }: Call): string => `http://${headers.host ?? ''}/media/pixel.png`

const actionOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

function submitted(call: Call): Reply {
  const action = actionOf(call.path)
  const { text, directives: fromText } = takeDirectives(asText(call.body['prompt']))
  const directives = { ...call.directives, ...fromText }
  const opensDialogue = /::(inpaint|customzoom)::/i.test(`${asText(call.body['customId'])}::`)
  const code = numberOf(directives, 'mjcode') ?? (opensDialogue ? 21 : 1)
  const answer = { code, description: directives['message'] ?? descriptions[code] ?? 'unknown', properties: {} }
  if (action === 'upload-discord-images' && code === 1) return json({ ...answer, result: [imageAt(call)] })
  if (code !== 1 && code !== 21 && code !== 22) {
    const properties = code === 24 ? { promptEn: text, bannedWord: 'banned' } : {}
    return json({ ...answer, properties, result: null })
  }
  const task = startTask(call, { action, prompt: text, directives })
  if (code === 22) return json({ ...answer, properties: { numberOfQueues: 1 }, result: task.id })
  if (code === 21 && !opensDialogue) {
    const properties = {
      status: directives['job'] === 'running' ? 'IN_PROGRESS' : 'SUCCESS',
      imageUrl: imageAt(call),
    }
    return json({ ...answer, properties, result: task.id })
  }
  return json({ ...answer, result: has(directives, 'blank') ? '' : task.id })
}

export const submitDrawing: PlainOperation = { type: 'plain', reply: submitted }

const statuses: Record<TaskState['stage'], string> = {
  waiting: 'SUBMITTED',
  running: 'IN_PROGRESS',
  succeeded: 'SUCCESS',
  failed: 'FAILURE',
}

const upscale = (index: number) => ({
  customId: `MJ::JOB::upsample::${index}::3dbbd469-36af-4a0f-8f02-df6c579e7011`,
  emoji: '',
  label: `U${index}`,
  type: 2,
  style: 2,
})

function report(call: Call, { task, state }: { task: SimulatedTask; state: TaskState }) {
  const done = state.stage === 'succeeded'
  const ended = done || state.stage === 'failed'
  return {
    id: task.id,
    action: task.action.toUpperCase(),
    prompt: task.prompt,
    promptEn: `${task.prompt} (en)`,
    description: `/${task.action} ${task.prompt}`,
    state: '',
    submitTime: task.submittedAt,
    startTime: state.stage === 'waiting' ? null : task.submittedAt + 10,
    finishTime: ended ? Date.now() : null,
    imageUrl: done ? imageAt(call) : null,
    status: statuses[state.stage],
    progress: done ? '100%' : `${state.percent}%`,
    failReason: state.reason || null,
    buttons: done ? [1, 2, 3, 4].map(upscale) : [],
    properties: { finalPrompt: task.prompt, finalZhPrompt: '' },
    ...task.override,
  }
}

export const listDrawings: PlainOperation = {
  type: 'plain',
  reply: (call) => json(askAfter(call).map((asked) => report(call, asked))),
}

export const drawingSeed: PlainOperation = {
  type: 'plain',
  reply: () => json({ code: 1, description: '成功', result: '3302135087' }),
}
