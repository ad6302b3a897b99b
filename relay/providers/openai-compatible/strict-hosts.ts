import type { ProviderCall } from '../types.ts'
import { isEmptyValue } from '#relay/chat/json.ts'
import { type Json, listOf, recordOf } from '../shared/json.ts'
import { unifyStrict } from './uniform-strict.ts'

/** In which agents send earlier reasoning back, as other vendors have it. */
const fields = ['reasoning_content', 'reasoning_details', 'reasoning_signature']

const refusing = /^https:\/\/api\.(groq\.com|cerebras\.ai)([/:?]|$)/

/**
 * Takes the reasoning off earlier answers for servers that refuse a conversation with it: "property 'reasoning_content' is unsupported",
 * https://github.com/janhq/jan/issues/8136 (Groq), https://github.com/QwenLM/qwen-code/issues/11045 (Cerebras, which reads its text in
 * `reasoning`; at Groq only some models do).
 */
function leaveOutReasoning(body: Json, vendor: string): string[] {
  const messages = listOf(body['messages'])
  const carries = (message: unknown): boolean => {
    const record = recordOf(message)
    return record?.['role'] === 'assistant' && fields.some((name) => name in record)
  }
  if (!messages.some(carries)) return []
  const losses = new Set<string>()
  body['messages'] = messages.map((message) => {
    if (!carries(message)) return message
    const own: Json = { ...recordOf(message) }
    if (vendor === 'cerebras.ai' && isEmptyValue(own['reasoning']) && !isEmptyValue(own['reasoning_content'])) {
      own['reasoning'] = own['reasoning_content']
      delete own['reasoning_content']
    }
    for (const name of fields) {
      if (!isEmptyValue(own[name])) losses.add(name)
      delete own[name]
    }
    return own
  })
  return [...losses]
}

/** What hosts refuse that speak OpenAI's form to the letter: Groq and Cerebras. Names what is given up. */
export function fitStrictHost(body: Json, { channel }: ProviderCall): string[] {
  const vendor = refusing.exec(channel.baseUrl)?.[1]
  if (vendor === undefined) return []
  const losses = leaveOutReasoning(body, vendor)
  return vendor === 'cerebras.ai' ? [...losses, ...unifyStrict(body)] : losses
}
