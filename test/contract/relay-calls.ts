import type { Objects } from './objects.ts'

type RelaySending = {
  /** Where the path has a parameter, and a second one. */
  id?: string
  item?: string
  body?: unknown
  headers?: Record<string, string>
}
type MakeSending = (make: Objects) => RelaySending | Promise<RelaySending>

const model = 'gpt-4o-mini'
const messages = [{ role: 'user', content: 'hello' }]
const contents = [{ role: 'user', parts: [{ text: 'hello' }] }]

const chat: MakeSending = () => ({ body: { model, messages } })
const google: MakeSending = () => ({ id: model, body: { contents } })
const googleText = { content: { parts: [{ text: 'hello' }] } }
const byModel: MakeSending = () => ({ id: model })
const byDrawing: MakeSending = async (make) => ({ id: (await make.drawing()).task })
const byAnswer: MakeSending = async (make) => ({ id: await make.storedAnswer() })

const byBatch: MakeSending = async (make) => ({ id: await make.messageBatch() })
const byInteraction: MakeSending = async (make) => ({ id: await make.storedAnswer('interaction_') })
const byConversation: MakeSending = async (make) => ({ id: (await make.conversation()).id })
const byConversationItem: MakeSending = async (make) => make.conversation()
const items = [{ role: 'user', content: 'hello' }]

function speech(): FormData {
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('file', new Blob([Buffer.alloc(100)]), 'a.wav')
  return form
}

function imageForm(): FormData {
  const form = new FormData()
  form.set('model', 'gpt-image-1')
  form.set('prompt', 'a cat')
  form.set('image', new Blob([Buffer.alloc(100)]), 'a.png')
  return form
}

/** What callers send to each path; every other path is asked with nothing. */
export const relayCalls: Readonly<Record<string, MakeSending>> = {
  'POST /pg/chat/completions': chat,
  'POST /rerank': () => ({ body: { model, query: 'q', documents: ['d'] } }),
  'POST /v1/audio/speech': () => ({ body: { model: 'tts-1', input: 'hello', voice: 'alloy' } }),
  'POST /v1/audio/transcriptions': () => ({ body: speech() }),
  'POST /v1/audio/translations': () => ({ body: speech() }),
  'POST /v1/chat/completions': chat,
  'POST /v1/completions': () => ({ body: { model, prompt: 'hello' } }),
  'POST /v1/edits': () => ({ body: { model, instruction: 'shorter', input: 'hello' } }),
  'POST /v1/embeddings': () => ({ body: { model: 'text-embedding-3-small', input: 'hello' } }),
  'POST /v1/engines/:model/embeddings': () => ({ id: 'text-embedding-3-small', body: { input: 'hello' } }),
  'POST /v1/explain': chat,
  'POST /v1/images/edits': () => ({ body: imageForm() }),
  'POST /v1/images/generations': () => ({ body: { model: 'dall-e-3', prompt: 'a cat' } }),
  'POST /v1/messages': () => ({ body: { model, messages, max_tokens: 100 } }),
  'POST /v1/messages/count_tokens': () => ({ body: { model, messages } }),
  'GET /v1/models/*model': byModel,
  'GET /v1beta/models/*model': byModel,
  'GET /v1beta/openai/models/*model': byModel,
  'DELETE /v1/models/*rest': byModel,
  'POST /v1/moderations': () => ({ body: { model: 'omni-moderation-latest', input: 'hello' } }),
  'POST /v1/rerank': () => ({ body: { model, query: 'q', documents: ['d'] } }),
  'POST /v2/rerank': () => ({ body: { model, query: 'q', documents: ['d'] } }),
  'POST /v1/responses': () => ({ body: { model, input: 'hello' } }),
  ...Object.fromEntries(
    ['/v1beta/interactions', '/v1/interactions'].flatMap((base): [string, MakeSending][] => [
      [`POST ${base}`, () => ({ body: { model, input: 'hello' } })],
      [`GET ${base}/:id`, byInteraction],
      [`DELETE ${base}/:id`, byInteraction],
    ]),
  ),
  'POST /v1/messages/batches': () => ({
    body: { requests: [{ custom_id: 'a', params: { model, messages, max_tokens: 100 } }] },
  }),
  'GET /v1/messages/batches/:id': byBatch,
  'DELETE /v1/messages/batches/:id': byBatch,
  'GET /v1/messages/batches/:id/results': byBatch,
  'POST /v1/messages/batches/:id/cancel': byBatch,
  'POST /v1/conversations': () => ({ body: { items } }),
  'GET /v1/conversations/:id': byConversation,
  'POST /v1/conversations/:id': async (make) => ({ ...(await byConversation(make)), body: { metadata: {} } }),
  'DELETE /v1/conversations/:id': byConversation,
  'GET /v1/conversations/:id/items': byConversation,
  'POST /v1/conversations/:id/items': async (make) => ({ ...(await byConversation(make)), body: { items } }),
  'GET /v1/conversations/:id/items/:item': byConversationItem,
  'DELETE /v1/conversations/:id/items/:item': byConversationItem,
  'POST /v1/responses/compact': () => ({ body: { model, input: 'hello' } }),
  'POST /v1/responses/input_tokens': () => ({ body: { model, input: 'hello' } }),
  'GET /v1/responses/:id': byAnswer,
  'DELETE /v1/responses/:id': byAnswer,
  'GET /v1/responses/:id/input_items': byAnswer,
  ...Object.fromEntries(
    ['/v1/models', '/v1beta/models'].flatMap((base) => [
      [`POST ${base}/*model:generateContent`, google],
      [`POST ${base}/*model:streamGenerateContent`, google],
      [`POST ${base}/*model:countTokens`, google],
      [`POST ${base}/*model:predict`, () => ({ id: 'dall-e-3', body: { instances: [{ prompt: 'a cat' }] } })],
      [`POST ${base}/*model:embedContent`, () => ({ id: 'text-embedding-3-small', body: googleText })],
      [
        `POST ${base}/*model:batchEmbedContents`,
        () => ({
          id: 'text-embedding-3-small',
          body: { requests: [{ model: 'models/text-embedding-3-small', ...googleText }] },
        }),
      ],
    ]),
  ),
  ...Object.fromEntries(
    ['/mj', '/:mode/mj'].flatMap((base): [string, MakeSending][] => [
      [`POST ${base}/submit/imagine`, () => ({ body: { prompt: 'a cat' } })],
      [`GET ${base}/task/:id/fetch`, byDrawing],
      [`GET ${base}/task/:id/image-seed`, byDrawing],
      [`POST ${base}/task/list-by-condition`, async (make) => ({ body: { ids: [(await make.drawing()).task] } })],
      [`POST ${base}/notify`, async (make) => ({ body: { id: (await make.drawing()).task, status: 'SUCCESS' } })],
      [`GET ${base}/image/:id`, byDrawing],
    ]),
  ),
  'POST /suno/submit/:action': () => ({ id: 'music', body: { prompt: 'a song' } }),
  'GET /suno/fetch/:id': async (make) => ({ id: (await make.music()).task }),
  'POST /suno/fetch': async (make) => ({ body: { ids: [(await make.music()).task] } }),
}
