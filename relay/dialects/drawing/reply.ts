import { z } from 'zod'
import { type DrawingAction, opensDialogue, submitCode } from '#core/tasks/drawing.ts'

const word = z.string().catch('')

const reply = z.object({
  code: z.coerce.number().int().catch(0),
  description: word,
  result: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).catch({}),
})

/** A drawing service's answer to a submission. `json` is all of it. */
export type SubmitReply = {
  code: number
  description: string
  /** The number of the task; "" when there is none. */
  taskId: string
  /** Addresses, where that is the result. */
  addresses: string[]
  properties: Record<string, unknown>
  json: Record<string, unknown>
}

/** Null when the text is no answer of a drawing service. */
export function readSubmitReply(text: string): SubmitReply | null {
  const json = parseObject(text)
  if (!json) return null
  const read = reply.safeParse(json)
  if (!read.success) return null
  const { code, description, result, properties } = read.data
  return {
    code,
    description,
    taskId: typeof result === 'string' || typeof result === 'number' ? String(result) : '',
    addresses: Array.isArray(result) ? result.filter((item) => typeof item === 'string') : [],
    properties,
    json,
  }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** Whether the service has accepted the task: one that exists or waits counts, except for swapped faces. */
export function isAccepted(action: DrawingAction, answer: { status: number; code: number }): boolean {
  if (answer.status !== 200) return false
  if (answer.code === submitCode.accepted) return true
  return action !== 'SWAP_FACE' && (answer.code === submitCode.exists || answer.code === submitCode.queued)
}

/** Callers read an existing or waiting task as an accepted one; where a dialogue was opened they need to know. */
export function shownCode(action: DrawingAction, code: number): number {
  if (code === submitCode.queued || (code === submitCode.exists && !opensDialogue(action))) return submitCode.accepted
  return code
}
