import type { Load } from './load.ts'

/** About a kilobyte of text as it stands in an agent's conversation: lines, quotes, code. */
const paragraph = [
  'The tests in "orders/total" fail since the last change: a discount of 10 % is applied twice when the cart is empty.',
  'function total(items) {\n\treturn items.reduce((sum, item) => sum + item.price * item.count, 0)\n}',
  'Please look for the cause, say which file is to blame, and propose the smallest change that keeps the other callers.',
]
  .join('\n')
  .repeat(3)

/** A conversation of about the requested length, as one JSON text. */
export function conversation({
  model,
  stream,
  bodyBytes,
  maxTokens = 256,
}: Pick<Load, 'model' | 'stream' | 'bodyBytes' | 'maxTokens'>): Buffer {
  const head = { model, stream, ...(stream ? { stream_options: { include_usage: true } } : {}), max_tokens: maxTokens }
  const messages = [{ role: 'user', content: 'Say hello.' }]
  const roundBytes = JSON.stringify({ role: 'assistant', content: paragraph }).length + 1
  for (let round = 0; round < Math.round(bodyBytes / roundBytes); round += 1) {
    messages.push({ role: round % 2 === 0 ? 'assistant' : 'user', content: paragraph })
  }
  return Buffer.from(JSON.stringify({ ...head, messages }))
}
