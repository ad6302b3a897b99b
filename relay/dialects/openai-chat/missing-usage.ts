import { parseExactly } from '#core/exact-json.ts'
import type { Usage } from '#core/usage.ts'
import { toOpenAiUsage } from './usage.ts'

/** A chat completion as the upstream wrote it, with the usage it left out; any other answer as it is. */
export function withOpenAiUsage(text: string, usage: Usage): string {
  const answer = parseExactly(text) as Record<string, unknown>
  return Array.isArray(answer['choices']) ? JSON.stringify({ ...answer, usage: toOpenAiUsage(usage) }) : text
}

const endMark = 'data: [DONE]'

/** The closing events of a stream with the usage chunk that its caller asked for and the upstream left out. */
export function withUsageChunk(closing: string, usage: Usage): string {
  const last = /^data: (\{.*\})$/m.exec(closing)?.[1]
  if (last === undefined) return closing
  const { id, created, model } = JSON.parse(last) as Record<string, unknown>
  const chunk = {
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    system_fingerprint: null,
    choices: [],
    usage: toOpenAiUsage(usage),
  }
  const text = `data: ${JSON.stringify(chunk)}\n\n`
  const end = closing.lastIndexOf(endMark)
  return end < 0 ? closing + text : closing.slice(0, end) + text + closing.slice(end)
}
