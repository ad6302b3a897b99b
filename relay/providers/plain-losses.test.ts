import { expect, test } from 'vitest'
import { callWith } from './conformance/fixtures.ts'
import { providerFor } from './registry.ts'
import type { PlainOperation } from './types.ts'

type Json = Record<string, unknown>

const image = 'data:image/png;base64,AAAA'

const drawing: Json = {
  size: '1792x1024',
  quality: 'high',
  style: 'vivid',
  background: 'transparent',
  output_format: 'webp',
  output_compression: 50,
  moderation: 'low',
  partial_images: 1,
  user: 'someone',
}

/** What OpenAI's form has for each operation: a call with the least, and fields beside that. */
const forms: Partial<Record<PlainOperation, { least: Json; beside: Json }>> = {
  embeddings: {
    least: { input: ['one'] },
    beside: { dimensions: 7, user: 'someone' },
  },
  images: { least: { prompt: 'p' }, beside: { ...drawing, n: 2 } },
  'image-edits': { least: { prompt: 'p', image }, beside: { ...drawing, input_fidelity: 'high' } },
  speech: {
    least: { input: 'hi', voice: 'alloy' },
    beside: { instructions: 'softly', speed: 1.5, response_format: 'aac' },
  },
  transcriptions: {
    least: {},
    beside: { language: 'de', prompt: 'names', temperature: '0.5', response_format: 'srt' },
  },
  rerank: {
    least: { query: 'q', documents: ['a', 'b'] },
    beside: { top_n: 1, max_tokens_per_doc: 9, user: 'someone' },
  },
}

const googleKey = JSON.stringify({ client_email: 'a@b', private_key: 'k', project_id: 'p' })

const targets: [
  name: string,
  operation: PlainOperation,
  channel: { type: number; model: string; key?: string; baseUrl?: string },
][] = [
  ['Cohere', 'embeddings', { type: 34, model: 'embed-v4.0' }],
  ['Cohere', 'rerank', { type: 34, model: 'rerank-v3.5' }],
  ['DashScope', 'rerank', { type: 17, model: 'gte-rerank-v2' }],
  ['DashScope', 'images', { type: 17, model: 'wan2.6-t2i' }],
  ['DashScope, as a task', 'images', { type: 17, model: 'wanx-v1' }],
  ['DashScope', 'image-edits', { type: 17, model: 'qwen-image-edit-plus' }],
  ['Gemini', 'embeddings', { type: 24, model: 'gemini-embedding-001' }],
  ['Gemini', 'images', { type: 24, model: 'gemini-2.5-flash-image' }],
  ['Imagen', 'images', { type: 24, model: 'imagen-4.0' }],
  ['Vertex', 'embeddings', { type: 41, model: 'text-embedding-005', key: googleKey }],
  ['Tencent', 'embeddings', { type: 23, model: 'hunyuan-embedding', key: 'app|id|secret' }],
  ['Qianfan', 'embeddings', { type: 15, model: 'bge-large-zh', key: 'a|b' }],
  ['Perplexity', 'embeddings', { type: 27, model: 'some-model' }],
  ['Ollama', 'embeddings', { type: 4, model: 'some-model' }],
  ['Mistral', 'embeddings', { type: 42, model: 'codestral-embed' }],
  ['Mistral', 'speech', { type: 42, model: 'voxtral-tts' }],
  ['MiniMax', 'speech', { type: 35, model: 'speech-02' }],
  ['Zhipu', 'speech', { type: 26, model: 'glm-tts' }],
  ['SiliconFlow', 'images', { type: 40, model: 'Kwai-Kolors/Kolors' }],
  ['SiliconFlow', 'image-edits', { type: 40, model: 'Qwen/Qwen-Image-Edit' }],
  ['xAI', 'images', { type: 48, model: 'grok-2-image' }],
  ['xAI', 'image-edits', { type: 48, model: 'grok-imagine-image' }],
  ['Ark', 'images', { type: 45, model: 'doubao-seedream-4-0' }],
  ['Zhipu', 'images', { type: 26, model: 'cogview-4' }],
  ['Voyage', 'embeddings', { type: 1, baseUrl: 'https://api.voyageai.com', model: 'voyage-4' }],
  ['Voyage', 'rerank', { type: 1, baseUrl: 'https://api.voyageai.com/v1', model: 'rerank-2.5' }],
  ['Ark', 'image-edits', { type: 45, model: 'doubao-seedream-4-0' }],
  ['Cloudflare', 'images', { type: 39, model: '@cf/a/b' }],
  ['Cloudflare, as a form', 'images', { type: 39, model: '@cf/black-forest-labs/flux-2-dev' }],
  ['Cloudflare', 'transcriptions', { type: 39, model: '@cf/openai/whisper' }],
  ['Replicate', 'images', { type: 56, model: 'owner/model' }],
]

test.each(targets)('%s: each field of %s arrives or is named', (_, name, { model, ...channel }) => {
  const translation = providerFor(channel.type).plain?.[name]
  const { least, beside } = forms[name] ?? { least: {}, beside: {} }
  const call = callWith({ model, token: 't', channel: { baseUrl: 'https://host.test', key: 'k', ...channel } })
  const send = (json: Json) => {
    const asked = { json: { model: 'asked-for', ...least, ...json }, form: null, file: Buffer.from('sound') }
    const built = translation?.request(asked, call)
    return { body: JSON.stringify(built?.body), losses: built?.losses ?? [] }
  }
  expect(send({}).losses).toEqual([])
  const plain = send({}).body
  for (const [field, value] of Object.entries(beside)) {
    const { body, losses } = send({ [field]: value })
    expect([field, losses], body).toEqual([field, body === plain ? [field] : []])
  }
  // Streams are made of answers that come in one piece.
  for (const field of [{ stream: true }, { stream_format: 'sse' }]) expect(send(field).losses).toEqual([])
})
