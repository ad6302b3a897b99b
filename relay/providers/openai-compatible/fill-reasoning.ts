import { type Json, listOf, recordOf, recordsOf, textOf } from '../shared/json.ts'

/** Whether the model of a body will think: as it is asked to, else as it does unasked. */
const willThink = (body: Json, thinks: RegExp): boolean => {
  const mode = recordOf(body['thinking'])?.['type']
  return mode === undefined ? thinks.test(String(body['model'])) : mode !== 'disabled'
}

/**
 * Vendors whose models refuse a conversation with tools without the reasoning of their earlier answers, while they think. Of answers
 * that another model gave, or whose reasoning the caller has not kept, there is none; an empty one is refused, a blank one is taken.
 * `thinks`: models that think unless they are asked not to.
 */
export const fillReasoning =
  (thinks: RegExp) =>
  (body: Json): void => {
    if (!willThink(body, thinks)) return
    const messages = recordsOf(body['messages'])
    if (!messages.some((message) => recordsOf(message['tool_calls']).length > 0)) return
    const lacks = (message: Json): boolean =>
      message['role'] === 'assistant' && (textOf(message['reasoning_content']) ?? '') === ''
    if (messages.some(lacks))
      body['messages'] = messages.map((message) => (lacks(message) ? { ...message, reasoning_content: ' ' } : message))
  }

const blank: Json = { type: 'thinking', thinking: ' ', signature: '' }

const hasBlock = (message: unknown, type: string): boolean =>
  recordsOf(recordOf(message)?.['content']).some((block) => block['type'] === type)

/** The same of the messages form, where it is asked of the answers that call a tool: their vendors look at no signature. */
export const fillThinking =
  (thinks: RegExp) =>
  (body: Json): void => {
    if (!willThink(body, thinks)) return
    const messages = listOf(body['messages'])
    const lacks = (message: unknown): boolean =>
      recordOf(message)?.['role'] === 'assistant' && hasBlock(message, 'tool_use') && !hasBlock(message, 'thinking')
    if (!messages.some(lacks)) return
    body['messages'] = messages.map((message) => {
      if (!lacks(message)) return message
      const record = recordOf(message)
      return { ...record, content: [blank, ...listOf(record?.['content'])] }
    })
  }
