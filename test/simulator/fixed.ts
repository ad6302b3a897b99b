import type { Json } from './prompt.ts'

const asks = (bytes: Buffer, field: string) => bytes.includes(`"${field}":true`) || bytes.includes(`"${field}": true`)

/**
 * A stand-in for a request that is not to be parsed: it reads as a small chat call in every dialect, and only whether the
 * real one wants a stream and usage is taken from its bytes. Requests of equal `name` get the same answer.
 */
export function fixedBody(bytes: Buffer): { name: string; body: Json } {
  const stream = asks(bytes, 'stream')
  const usage = asks(bytes, 'include_usage')
  const user = { role: 'user', content: 'hello' }
  return {
    name: `${stream} ${usage}`,
    body: {
      model: 'fixed',
      messages: [user],
      input: 'hello',
      prompt: 'hello',
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
      max_tokens: 1_000_000,
      stream,
      ...(stream ? { stream_options: { include_usage: usage } } : {}),
    },
  }
}
