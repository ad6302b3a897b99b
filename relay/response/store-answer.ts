import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { parseObject } from '#relay/chat/json.ts'
import { keepAnswer, keepsAnswer } from '#relay/routing/local-responses.ts'

/** What an encoder has to know of the caller's own request. */
export const askedOf = ({ services, call }: AttemptContext) => ({
  callerBody: call.earlier?.asked ?? call.body.json,
  sentBody: call.body.json,
  keeps: keepsAnswer(services, call),
})

const marker = 'data: '

/** Where the response stands in the closing text: all of it, or the data of its last event. */
function responseIn(text: string): { start: number; end: number; isEvent: boolean } {
  if (text.startsWith('{')) return { start: 0, end: text.length, isEvent: false }
  const at = text.lastIndexOf(marker)
  const start = at < 0 ? text.length : at + marker.length
  const end = text.indexOf('\n', start)
  return { start, end: end < 0 ? text.length : end, isEvent: true }
}

/** Keeps a translated answer before its caller can name it. Returns the closing text, which says whether it is kept. */
export async function withStoredAnswer(context: AttemptContext, closing: string): Promise<string> {
  const { services, call } = context
  if (context.listens || !keepsAnswer(services, call)) return closing
  const { start, end, isEvent } = responseIn(closing)
  const json = parseObject(closing.slice(start, end))
  const response = isEvent ? json?.['response'] : json
  if (typeof response !== 'object' || response === null) return closing
  if (await keepAnswer(services, call, response as Record<string, unknown>)) return closing
  const dropped = { ...response, store: false }
  const text = JSON.stringify(isEvent ? { ...json, response: dropped } : dropped)
  return closing.slice(0, start) + text + closing.slice(end)
}
