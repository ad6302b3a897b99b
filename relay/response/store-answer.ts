import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { parseExactly } from '#core/exact-json.ts'
import { isObject } from '#relay/chat/json.ts'
import { keepAnswer, keepsAnswer, keepTurn } from '#relay/routing/local-responses.ts'

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
  const at = text.lastIndexOf(`\n${marker}{`)
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

/** The gateway has something to keep of this answer: a translated one itself, any as a turn of its conversation. */
const storesAnswer = ({ services, call, listens }: AttemptContext): boolean =>
  !call.dialect.isNeverStored &&
  (call.earlier?.conversationId !== undefined || (!listens && keepsAnswer(services, call)))

/** Keeps an answer before its caller can name it. Returns the closing text, which says what of it is kept. */
export async function withStoredAnswer(context: AttemptContext, closing: string): Promise<string> {
  const { services, call, listens } = context
  if (!storesAnswer(context)) return closing
  const { start, end, isEvent } = responseIn(closing)
  const json = readOwn(closing.slice(start, end))
  const name = call.dialect.keepsInteractions ? 'interaction' : 'response'
  const response = isEvent ? json?.[name] : json
  // Within a text the quotes would be escaped.
  if (!isObject(response)) return listens ? closing : closing.replaceAll('"store":true', '"store":false')
  let stored: Record<string, unknown> = response
  const { conversationId } = call.earlier ?? {}
  if (conversationId !== undefined) {
    const isAdded = await keepTurn(services, call, response)
    stored = { ...response, conversation: isAdded ? { id: conversationId } : null }
  }
  if (!listens && keepsAnswer(services, call) && !(await keepAnswer(services, call, stored)))
    stored = call.dialect.keepsInteractions ? stored : { ...stored, store: false }
  if (stored === response) return closing
  const text = JSON.stringify(isEvent ? { ...json, [name]: stored } : stored)
  return closing.slice(0, start) + text + closing.slice(end)
}
