import { z } from 'zod'
import { readObject } from '#core/json-object.ts'
import { type DrawingAction, opensDialogue, submitCode } from '#core/tasks/drawing.ts'

const word = z.string().catch('')

const reply = z.object({
  /** As a task's row can keep it. */
  code: z.coerce.number().pipe(z.int32()).catch(0),
  description: word,
  result: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).catch({}),
})

/** A drawing service's answer to a submission. `json` and `text` are all of it. */
export type SubmitReply = {
  code: number
  description: string
  /** The number of the task; "" when there is none. */
  taskId: string
  /** Addresses, where that is the result. */
  addresses: string[]
  properties: Record<string, unknown>
  json: Record<string, unknown>
  text: string
}

/** Null when the text is no answer of a drawing service. */
export function readSubmitReply({ status, text }: { status: number; text: string }): SubmitReply | null {
  const json = readObject(text)
  if (!json) return null
  const read = reply.safeParse(json)
  if (!read.success) return null
  const { code, description, result, properties } = read.data
  if (!isSuccess(status) && accepting.has(code)) return refused(status)
  return {
    code,
    description,
    taskId: typeof result === 'string' || typeof result === 'number' ? String(result) : '',
    addresses: Array.isArray(result) ? result.filter((item) => typeof item === 'string') : [],
    properties,
    json,
    text,
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

const accepting = new Set<number>([submitCode.accepted, submitCode.exists, submitCode.queued])

/** A failed status goes before the code of its body: nobody may take it for a task, which none is charged for. */
function refused(status: number): SubmitReply {
  const code = submitCode.failed
  const description = `upstream status ${status}`
  const json = { code, description }
  return { code, description, taskId: '', addresses: [], properties: {}, json, text: JSON.stringify(json) }
}

/** Whether the service has accepted the task: one that exists or waits counts, except for swapped faces. */
export const isAccepted = (action: DrawingAction, code: number): boolean =>
  code === submitCode.accepted || (action !== 'SWAP_FACE' && accepting.has(code))

/** Callers read an existing or waiting task as an accepted one; where a dialogue was opened they need to know. */
export function shownCode(action: DrawingAction, code: number): number {
  if (code === submitCode.queued || (code === submitCode.exists && !opensDialogue(action))) return submitCode.accepted
  return code
}
