import { areBroken } from '#relay/chat/json.ts'
import { type CalledAs, ownCallItem } from './agent-tools.ts'

/** Output items of a response, as they stand when complete (or, with `in_progress`, when they begin). */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export type TextContent = { type: 'output_text'; text: string; annotations: object[]; logprobs: never[] }

export const outputText = (text: string, annotations: object[] = []): TextContent => ({
  type: 'output_text',
  text,
  annotations,
  logprobs: [],
})

export const messageItem = (id: string, content: object[], status: ItemStatus) => ({
  type: 'message',
  id,
  role: 'assistant',
  status,
  content,
})

export const reasoningItem = (
  id: string,
  reasoning: { text: string; encrypted: string | undefined },
  status: ItemStatus,
) => ({
  type: 'reasoning',
  id,
  summary: reasoning.text === '' ? [] : [{ type: 'summary_text', text: reasoning.text }],
  ...(reasoning.encrypted === undefined ? {} : { encrypted_content: reasoning.encrypted }),
  status,
})

export type CalledTool = {
  callId: string
  name: string
  custom: boolean
  text: string
  /** What the caller knows it as, where that is another. */
  as?: CalledAs | undefined
}

/** A function call without arguments still has to be valid JSON. */
export const argumentsOf = (call: CalledTool): string => (call.text === '' ? '{}' : call.text)

export const callItem = (id: string, call: CalledTool, status: ItemStatus) => {
  const { as } = call
  if (as && 'kind' in as) {
    return ownCallItem(as.kind, { id, call_id: call.callId }, { argumentsText: call.text, status })
  }
  const named = as ? { name: as.name, namespace: as.namespace } : { name: call.name }
  const common = { id, call_id: call.callId, ...named }
  if (call.custom) return { type: 'custom_tool_call', ...common, input: call.text, status }
  return { type: 'function_call', ...common, arguments: status === 'in_progress' ? '' : argumentsOf(call), status }
}

/**
 * A call whose arguments were cut off must not pass for a whole one, or an agent runs it. Free text does not show where it ends:
 * `cut` says that the answer was cut and this is the last of it.
 */
export const callStatus = ({ custom, text }: CalledTool, cut: boolean): ItemStatus =>
  (custom ? cut : areBroken(text)) ? 'incomplete' : 'completed'

export const imageItem = (id: string, data: string | null, status: ItemStatus) => ({
  type: 'image_generation_call',
  id,
  status,
  result: data,
})
