import { countTokens } from '../answer.ts'
import { has } from '../directives.ts'
import { embed } from '../embedding.ts'
import { checkEmbeddings } from '../strict/vendors.ts'
import { asList, asNumber, asObjects, asText, refuse } from '../prompt.ts'
import { json, type PlainOperation } from '../types.ts'

/** Texts, or token lists written as text. */
function inputsOf(input: unknown): string[] {
  if (typeof input === 'string') return [input]
  const list = asList(input)
  if (list.length === 0) refuse("Missing required parameter: 'input'.", 'input')
  if (list.every((item) => typeof item === 'number')) return [JSON.stringify(list)]
  return list.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
}

export const embeddings: PlainOperation = {
  type: 'plain',
  reply: ({ body, directives }) => {
    const inputs = inputsOf(body['input'])
    checkEmbeddings(body, inputs.length)
    const dimensions = asNumber(body['dimensions'] ?? body['output_dimension']) ?? 8
    const base64 = body['encoding_format'] === 'base64'
    const tokens = countTokens(inputs.reduce((sum, text) => sum + text.length, 0))
    return json({
      object: 'list',
      data: inputs.map((text, index) => {
        const vector = embed(text, dimensions)
        const packed = () => Buffer.from(new Float32Array(vector).buffer).toString('base64')
        return { object: 'embedding', index, embedding: base64 ? packed() : vector }
      }),
      model: asText(body['model']),
      ...(has(directives, 'nousage') ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    })
  },
}

/** Volcengine's models that see make one vector of all they are given: https://www.volcengine.com/docs/82379/1523520 */
export const multimodalEmbedding: PlainOperation = {
  type: 'plain',
  reply: ({ body }) => {
    const parts = asObjects(body['input'])
    if (parts.length === 0 || parts.some((part) => !['text', 'image_url', 'video_url'].includes(asText(part['type']))))
      refuse('The parameter `input` specified in the request are not valid', 'input')
    const text = parts.map((part) => asText(part['text'])).join('\n')
    const tokens = countTokens(text.length)
    return json({
      object: 'list',
      data: { object: 'embedding', embedding: embed(text, asNumber(body['dimensions']) ?? 8) },
      model: asText(body['model']),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    })
  },
}
