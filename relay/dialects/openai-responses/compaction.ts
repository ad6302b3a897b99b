import type { Ambient } from '#core/ambient.ts'
import { type ChatResponse, MalformedUpstream } from '#relay/chat/events.ts'
import { type Fields, isObject } from '#relay/chat/json.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { writeCompaction } from '#relay/chat/seals/compaction.ts'
import { defined } from '../read.ts'
import { parseOpenAiResponses } from './parse.ts'

const instructions = `Summarise the conversation so far, so that another model can go on with it from your summary alone. Say
- what the user wants, with every condition and preference they gave;
- what has been done and found out, and which decisions were made for which reasons;
- the names, paths, identifiers, commands, figures and pieces of code that are still needed, word for word;
- which errors came up and how they were solved;
- what remains to be done, and what comes next.
Answer with the summary alone. Do not go on with the task, do not call tools, and do not address the user.`

/** A body of responses → hub request for a summary of its conversation. */
export function summaryRequest(given: Fields, path: { model?: string | undefined }): ChatRequest {
  // What shapes an answer (its format, its length) is not for summaries.
  const { text: _text, max_output_tokens: _limit, tool_choice: _choice, ...body } = given
  const request = parseOpenAiResponses(body, path)
  return defined({
    ...request,
    messages: [
      ...request.messages,
      { role: 'user' as const, content: [{ type: 'text' as const, text: instructions }] },
    ],
    toolChoice: request.tools.length > 0 ? ({ type: 'none' } as const) : undefined,
  })
}

const isTrigger = (item: unknown): boolean => isObject(item) && item['type'] === 'compaction_trigger'

/** "Compacts the current context. Must be the final input item": the `openai` package, `ResponseInputItem.CompactionTrigger`. */
export const asksForCompaction = ({ input }: Readonly<Fields>): boolean =>
  Array.isArray(input) && isTrigger(input.at(-1))

/** What is to be compacted stands in the call, and not only at the vendor under the id of an answer. */
export const bringsConversation = ({ input }: Readonly<Fields>): boolean =>
  Array.isArray(input) && input.some((item) => !isTrigger(item))

/** The conversation that is to be compacted. */
export const withoutTrigger = (body: Fields): Fields => ({
  ...body,
  input: Array.isArray(body['input']) ? body['input'].filter((item: unknown) => !isTrigger(item)) : body['input'],
})

/** @throws {MalformedUpstream} where the model summed up nothing. */
export function summaryIn(response: ChatResponse): string {
  const parts = response.choices[0]?.parts ?? []
  const summary = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  if (summary.trim() === '') throw new MalformedUpstream('the model wrote no summary')
  return summary
}

export const compactionItem = (summary: string, ambient: Ambient) => ({
  type: 'compaction',
  id: `cmp_${ambient.newId(24)}`,
  encrypted_content: writeCompaction(summary),
})
