import type { Provider } from '../types.ts'
import { joinPath } from '../shared/join-path.ts'
import { recordOf, recordsOf, wordOf } from '../shared/json.ts'
import { geminiEmbeddings } from './embeddings.ts'
import { readGeminiFailure } from './failure.ts'
import { geminiImages } from './images.ts'
import { mostImages } from './models.ts'
import { countGemini, nativeGemini } from './native.ts'
import { outputLimitOf } from '../output-limit.ts'
import { geminiProfile } from './profile.ts'
import { geminiHeaders, generateUrl, operationUrl, toGeminiRequest } from './request.ts'
import { fromGeminiResponse } from './response.ts'
import { createGeminiDecoder } from './stream.ts'

/** Addresses the vendor reads itself: its own file store and videos it hosts. */
const ownAddress =
  /^(https:\/\/generativelanguage\.googleapis\.com\/|gs:\/\/|https:\/\/(www\.)?youtube\.com\/|https:\/\/youtu\.be\/)/

const host = { url: generateUrl, headers: geminiHeaders }

export const gemini: Provider = {
  id: 'gemini',
  telemetryName: 'gcp.gemini',
  label: 'Gemini',
  channelTypes: [24],
  framing: 'sse',
  chat: {
    profile: ({ model }) => ({ ...geminiProfile, mostOutput: outputLimitOf(model) }),
    request: toGeminiRequest,
    response: (json, call) => fromGeminiResponse(json, call),
    stream: (call) => createGeminiDecoder(call),
    resumes: true,
    media: 'inline',
    mostImages: () => mostImages,
    keepsAddress: ({ source }) => source.kind === 'url' && ownAddress.test(source.url),
  },
  plain: { embeddings: geminiEmbeddings, images: geminiImages({ url: operationUrl, headers: geminiHeaders }) },
  native: {
    gemini: {
      ...nativeGemini(host),
      countTokens: countGemini(host, (call, model) => operationUrl(call, model, ':countTokens')),
    },
  },
  error: readGeminiFailure,
  models: {
    request: (channel) => ({
      method: 'GET',
      url: `${joinPath(channel.baseUrl, '/v1beta', '/models')}?pageSize=1000`,
      headers: { 'x-goog-api-key': channel.key },
    }),
    read: (json) =>
      recordsOf(recordOf(json)?.['models']).flatMap((row) => wordOf(row['name'])?.replace(/^models\//, '') ?? []),
  },
}
