import { bearer } from '../openai-compatible/address.ts'
import type { Provider } from '../types.ts'
import { readFailure } from '../shared/failures.ts'
import { recordOf, recordsOf, wordOf } from '../shared/json.ts'
import { createCohereDecoder, fromCohereAnswer } from './answer.ts'
import { cohereEmbeddings, cohereRerank } from './plain.ts'
import { toCohereRequest } from './request.ts'

export const cohere: Provider = {
  id: 'cohere',
  label: 'Cohere',
  channelTypes: [34],
  framing: 'sse',
  chat: {
    request: toCohereRequest,
    response: (json, call) => fromCohereAnswer(json, call),
    stream: (call) => createCohereDecoder(call),
    media: 'inline',
    keepsAddress: (part) => part.type === 'image',
  },
  plain: { embeddings: cohereEmbeddings, rerank: cohereRerank },
  native: {},
  error: readFailure,
  models: {
    request: (channel) => ({
      method: 'GET',
      url: `${channel.baseUrl}/v1/models?page_size=1000&endpoint=chat`,
      headers: bearer(channel.key),
    }),
    read: (json) => recordsOf(recordOf(json)?.['models']).flatMap((row) => wordOf(row['name']) ?? []),
  },
}
