import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { parseExactly } from '#core/exact-json.ts'
import { isObject } from '#relay/chat/json.ts'
import { keepAnswer, keepsAnswer } from '#relay/routing/local-responses.ts'

/** What an encoder has to know of the caller's own request. */
export const askedOf = ({ services, call }: AttemptContext) => ({
  callerBody: call.earlier?.asked ?? call.body.json,
  sentBody: call.body.json,
  keeps: keepsAnswer(services, call),
})

const marker = 'data: '

/**
 * Where the response stands in the closing text: all of it, or the data of its last event. What is said in it may hold the
 * marker too, but never a line's start.
 */
function responseIn(text: string): { start: number; end: number; isEvent: boolean } {
  if (text.startsWith('{')) return { start: 0, end: text.length, isEvent: false }
  const at = text.lastIndexOf(`\n${marker}`)
  const first = text.startsWith(marker) ? marker.length : text.length
  const start = at < 0 ? first : at + 1 + marker.length
  const end = text.indexOf('\n', start)
  return { start, end: end < 0 ? text.length : end, isEvent: true }
}

/** Written here: however deep it nests, it can be written again. */
function readOwn(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseExactly(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Keeps a translated answer before its caller can name it. Returns the closing text, which says whether it is kept. */
export async function withStoredAnswer(context: AttemptContext, closing: string): Promise<string> {
  const { services, call } = context
  if (context.listens || !keepsAnswer(services, call)) return closing
  const { start, end, isEvent } = responseIn(closing)
  const json = readOwn(closing.slice(start, end))
  const response = isEvent ? json?.['response'] : json
  // Within a text the quotes would be escaped.
  if (!isObject(response)) return closing.replaceAll('"store":true', '"store":false')
  if (await keepAnswer(services, call, response)) return closing
  const dropped = { ...response, store: false }
  const text = JSON.stringify(isEvent ? { ...json, response: dropped } : dropped)
  return closing.slice(0, start) + text + closing.slice(end)
}
