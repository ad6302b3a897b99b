import type { ChatResponse } from '#relay/chat/events.ts'
import { isObject } from '#relay/chat/json.ts'
import { answerId, unixSeconds } from '../answer-id.ts'
import { compactionItem, summaryIn } from '../openai-responses/compaction.ts'
import { toResponsesUsage } from '../openai-responses/response-object.ts'
import type { EncodeContext } from '../types.ts'

type Fields = Record<string, unknown>

const contentOf = (content: unknown): unknown =>
  typeof content === 'string' ? [{ type: 'input_text', text: content }] : content

/** What users said is kept word for word. */
function userMessages({ input }: Fields, newId: () => string): Fields[] {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : Array.isArray(input) ? input : []
  return items
    .filter((item: unknown): item is Fields => isObject(item) && item['role'] === 'user')
    .map((item) => ({
      id: newId(),
      ...item,
      type: 'message',
      status: 'completed',
      content: contentOf(item['content']),
    }))
}

/**
 * Hub answer → compacted conversation.
 * @throws {MalformedUpstream} where the model summed up nothing.
 */
export function encodeOpenAiCompaction(response: ChatResponse, context: EncodeContext): unknown {
  const { ambient, sentBody = {} } = context
  const compaction = compactionItem(summaryIn(response), ambient)
  return {
    id: answerId(response.id, 'resp_', ambient),
    object: 'response.compaction',
    created_at: unixSeconds(ambient),
    output: [...userMessages(sentBody, () => `msg_${ambient.newId(24)}`), compaction],
    usage: response.usage === undefined ? null : toResponsesUsage(response.usage),
  }
}
