import { type Json, recordOf, recordsOf, textOf } from '../shared/json.ts'

/**
 * Vendors whose models refuse a conversation with tools without the reasoning of their earlier answers, while they think. Of answers
 * that another model gave, or whose reasoning the caller has not kept, there is none; an empty one is refused, a blank one is taken.
 * `thinks`: models that think unless they are asked not to.
 */
export const fillReasoning =
  (thinks: RegExp) =>
  (body: Json): void => {
    const mode = recordOf(body['thinking'])?.['type']
    if (mode === 'disabled' || (mode === undefined && !thinks.test(String(body['model'])))) return
    const messages = recordsOf(body['messages'])
    if (!messages.some((message) => recordsOf(message['tool_calls']).length > 0)) return
    const lacks = (message: Json): boolean =>
      message['role'] === 'assistant' && (textOf(message['reasoning_content']) ?? '') === ''
    if (messages.some(lacks))
      body['messages'] = messages.map((message) => (lacks(message) ? { ...message, reasoning_content: ' ' } : message))
  }
