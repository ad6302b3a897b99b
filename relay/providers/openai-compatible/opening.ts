import type { WireEvent } from '#relay/transport/framing.ts'
import { isEmptyValue } from '#relay/chat/json.ts'
import { recordOf, recordsOf, tryRecord } from '../shared/json.ts'

/** Chunks of chats, and of completions, whose choices hold their text themselves. */
export function isChatOpening({ data }: WireEvent): boolean {
  if (data.startsWith('[DONE]')) return false
  return recordsOf(tryRecord(data)?.['choices']).every((choice) => {
    const { role: _, ...delta } = recordOf(choice['delta'] ?? choice['message']) ?? {}
    return [choice['finish_reason'], choice['text'], ...Object.values(delta)].every(isEmptyValue)
  })
}
