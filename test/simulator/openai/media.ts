import { countTokens } from '../answer.ts'
import { has } from '../directives.ts'
import { asList, asNumber, asObject, asObjects, asText, refuse, Refusal } from '../prompt.ts'
import { type Call, json, type PlainOperation, type Reply, type StreamEvent } from '../types.ts'

export const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const event = (type: string, fields: object): StreamEvent => ({
  event: type,
  data: JSON.stringify({ type, ...fields }),
})

const imageUsage = (prompt: string) => ({
  total_tokens: countTokens(prompt.length) + 272,
  input_tokens: countTokens(prompt.length),
  output_tokens: 272,
  input_tokens_details: { text_tokens: countTokens(prompt.length), image_tokens: 0 },
})

/**
 * xAI: "The OpenAI SDK's images.edit() method is not supported for image editing because it uses multipart/form-data, while the xAI API requires
 * application/json": https://docs.x.ai/developers/model-capabilities/images/generation
 */
function checkJsonImage({ body, headers }: Call): void {
  if (!headers['content-type']?.startsWith('application/json'))
    throw new Refusal({ status: 415, message: 'Expected request with `Content-Type: application/json`' })
  const given = body['image'] === undefined ? asObjects(body['images']) : [asObject(body['image'])]
  if (given.length === 0 || given.some(({ url }) => asText(url) === '')) refuse('image or images is required', 'image')
}

/** A form of several images names them `image[]`. */
function checkImage(call: Call): void {
  const { body, headers, path } = call
  // Volcengine and SiliconFlow edit where they draw.
  if (path.startsWith('/api/v3/') || asText(body['model']).startsWith('Qwen/'))
    throw new Refusal({ status: 404, message: 'The requested resource was not found.' })
  if (asText(body['model']).startsWith('grok-')) return checkJsonImage(call)
  const image = asObject(body['image'] ?? body['image[]'])
  if (!headers['content-type']?.startsWith('multipart/form-data') || image['bytes'] === undefined)
    refuse("Missing required parameter: 'image'.", 'image')
}

/** Token figures come from the gpt-image models only, as with the vendor. */
function drawn(call: Call): Reply {
  const { body, directives, now } = call
  const isEdit = call.path.endsWith('/edits')
  if (isEdit) checkImage(call)
  const prompt = asText(body['prompt'])
  if (prompt === '') refuse("Missing required parameter: 'prompt'.", 'prompt')
  const kind = isEdit ? 'image_edit' : 'image_generation'
  const isNew = asText(body['model']).startsWith('gpt-image')
  const usage = isNew && !has(directives, 'nousage') ? { usage: imageUsage(prompt) } : {}
  if (body['stream'] === true || body['stream'] === 'true') {
    return {
      type: 'stream',
      events: [
        event(`${kind}.partial_image`, { b64_json: onePixel, partial_image_index: 0 }),
        event(`${kind}.completed`, { b64_json: onePixel, ...usage }),
      ],
    }
  }
  const count = Number(body['n'] ?? 1)
  const item =
    isNew || body['response_format'] === 'b64_json'
      ? { b64_json: onePixel }
      : { url: 'https://pictures.example/one.png' }
  return json({
    created: now,
    data: Array.from({ length: count }, () => ({ ...item, revised_prompt: prompt })),
    ...usage,
  })
}

export const images: PlainOperation = { type: 'plain', reply: drawn }

export const speech: PlainOperation = {
  type: 'plain',
  reply: ({ body }) => {
    const input = asText(body['input'])
    if (input === '') refuse("Missing required parameter: 'input'.", 'input')
    if (body['stream_format'] === 'sse') {
      const usage = {
        input_tokens: countTokens(input.length),
        output_tokens: 40,
        total_tokens: countTokens(input.length) + 40,
      }
      const audio = Buffer.from(`sound of: ${input}`).toString('base64')
      return { type: 'stream', events: [event('speech.audio.delta', { audio }), event('speech.audio.done', { usage })] }
    }
    return { type: 'bytes', contentType: 'audio/mpeg', body: Buffer.from(`sound of: ${input}`) }
  },
}

export const transcription: PlainOperation = {
  type: 'plain',
  reply: ({ body, directives }) => {
    const file = asObject(body['file'])
    if (file === undefined || file['bytes'] === undefined) refuse("Missing required parameter: 'file'.", 'file')
    const text = `heard ${asText(file['filename'])} of ${asNumber(file['bytes'])} bytes (${asText(file['sha256'])})`
    const format = asText(body['response_format']) || 'json'
    const tokens = {
      type: 'tokens',
      input_tokens: 30,
      output_tokens: 12,
      total_tokens: 42,
      input_token_details: { text_tokens: 0, audio_tokens: 30 },
    }
    const usage = has(directives, 'nousage') || !asText(body['model']).startsWith('gpt-') ? {} : { usage: tokens }
    if (body['stream'] === 'true') {
      return {
        type: 'stream',
        events: [event('transcript.text.delta', { delta: text }), event('transcript.text.done', { text, ...usage })],
      }
    }
    if (format === 'verbose_json')
      return json({ task: 'transcribe', language: 'english', duration: 90.2, text, segments: [] })
    if (format !== 'json')
      return { type: 'bytes', contentType: 'text/plain; charset=utf-8', body: Buffer.from(`${text}\n`) }
    return json({ text, ...usage })
  },
}

export const moderations: PlainOperation = {
  type: 'plain',
  reply: ({ body, nextId }) => {
    const inputs = typeof body['input'] === 'string' ? [body['input']] : asList(body['input'])
    const results = inputs.map((input) => {
      const flagged = JSON.stringify(input).includes('violence')
      return { flagged, categories: { violence: flagged }, category_scores: { violence: flagged ? 0.9 : 0.01 } }
    })
    return json({ id: nextId('modr-'), model: asText(body['model']), results })
  },
}

export const rerank: PlainOperation = {
  type: 'plain',
  reply: ({ body }) => {
    const documents = asList(body['documents']).map((item) =>
      typeof item === 'string' ? item : asText(asObject(item)?.['text']),
    )
    const query = asText(body['query'])
    const results = documents
      .map((text, index) => ({ index, relevance_score: text.includes(query) ? 0.9 : 0.1, text }))
      .sort((left, right) => right.relevance_score - left.relevance_score)
      .slice(0, asNumber(body['top_n']) ?? documents.length)
      .map(({ text, ...result }) => (body['return_documents'] === true ? { ...result, document: { text } } : result))
    return json({ results, usage: { prompt_tokens: 21, total_tokens: 21 } })
  },
}
