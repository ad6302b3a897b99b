import { type Json, listOf, recordOf } from './json.ts'

/** What is no text among the parts of messages, in the chat and in the messages form. */
const others: ReadonlySet<unknown> = new Set(['image_url', 'input_audio', 'file', 'video_url', 'image', 'document'])

/**
 * The messages with a word in place of each part that a model of texts cannot read, inside results of tools too, so that an image that a
 * tool has once shown does not end the conversation. Nothing where there is none. `readable`: parts that the model can read.
 */
export function textOnly(
  messages: unknown,
  readable?: ReadonlySet<unknown>,
): { messages: Json[]; losses: string[] } | undefined {
  const losses = new Set<string>()
  const plain = (part: unknown): unknown => {
    const record = recordOf(part)
    if (!record) return part
    const { type } = record
    if (!others.has(type) || readable?.has(type)) return Array.isArray(record['content']) ? plainContent(record) : part
    losses.add(String(type))
    return { type: 'text', text: `[${String(type)} left out: this model cannot read it]` }
  }
  const plainContent = (record: Json): Json => ({ ...record, content: listOf(record['content']).map(plain) })
  const result = listOf(messages).map((message) => {
    const record = recordOf(message) ?? {}
    return Array.isArray(record['content']) ? plainContent(record) : record
  })
  return losses.size > 0 ? { messages: result, losses: [...losses] } : undefined
}
