import type { ChatRequest } from '#relay/chat/request.ts'
import { fitSampling } from '../anthropic/override.ts'
import { nativeClaude } from '../anthropic/native.ts'
import { fitToPlatform, vertexPlatform } from '../anthropic/platforms.ts'
import { cloudClaudeProfile } from '../anthropic/profile.ts'
import { planOf, toClaudeBody } from '../anthropic/request.ts'
import { fromClaudeResponse } from '../anthropic/response.ts'
import { createClaudeDecoder } from '../anthropic/stream.ts'
import { readGeminiFailure } from '../gemini/failure.ts'
import { geminiImages } from '../gemini/images.ts'
import { mostImages, wantsSignatures } from '../gemini/models.ts'
import { nativeGemini } from '../gemini/native.ts'
import { geminiProfile } from '../gemini/profile.ts'
import { generateOperation, toGeminiBody } from '../gemini/request.ts'
import { fromGeminiResponse } from '../gemini/response.ts'
import { createGeminiDecoder } from '../gemini/stream.ts'
import { compatibleProfile } from '../openai-compatible/profile.ts'
import { outputLimitOf } from '../output-limit.ts'
import { toOpenAiRequest } from '../openai-compatible/request.ts'
import { toHubResponse } from '../openai-compatible/response.ts'
import { createOpenAiDecoder } from '../openai-compatible/stream.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import { dropRefusedByGrok, grokUsage } from '../openai-compatible/vendors/xai.ts'
import type { ChatTranslation, Provider, ProviderCall, UpstreamRequest } from '../types.ts'
import { type Json, recordOf, recordsOf, wordOf } from '../shared/json.ts'
import {
  baseOf,
  claudeCountUrl,
  claudeUrl,
  credentialHeaders,
  googleUrl,
  openAiUrl,
  toVertexClaude,
} from './address.ts'
import { dropCallIds } from './call-ids.ts'
import { vertexEmbeddings } from './embeddings.ts'
import { exchangeOf } from './key.ts'

const bodyVersion = 'vertex-2023-10-16'

/** Partners' models that are served in the OpenAI form. */
const openModels: OpenAiStyle = {
  id: 'vertex',
  telemetryName: 'gcp.vertex_ai',
  label: 'Vertex AI',
  channelTypes: [41],
  url: openAiUrl,
  streamUsage: true,
}

/** The same of xAI, whose models count reasoning beside the answer. Which of them take an effort here is not said, so none is sent. */
const grok: OpenAiStyle = { ...openModels, reasoning: () => [], adjust: dropRefusedByGrok, usage: grokUsage }

const isGrok = (model: string): boolean => model.startsWith('xai/')

const styleOf = ({ model }: ProviderCall): OpenAiStyle => (isGrok(model) ? grok : openModels)

type Form = 'claude' | 'google' | 'openai'

function formOf(model: string): Form {
  if (model.startsWith('claude')) return 'claude'
  return isGrok(model) || model.includes('llama') || model.endsWith('-maas') ? 'openai' : 'google'
}

const headersOf = (call: ProviderCall): Record<string, string> => ({
  'content-type': 'application/json',
  accept: call.stream ? 'text/event-stream' : 'application/json',
  ...credentialHeaders(call),
})

const fitClaude = (body: Json, call: ProviderCall) =>
  fitToPlatform(body, call.callerHeaders['anthropic-beta'], vertexPlatform)

const claudeHeaders = (call: ProviderCall): Record<string, string> => {
  const { betas } = fitClaude({}, call)
  return { ...headersOf(call), ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }) }
}

function claudeRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const { model, body, losses } = toClaudeBody(request, call)
  const refused = fitClaude(body, call).losses
  return {
    method: 'POST',
    url: claudeUrl(call, model),
    headers: claudeHeaders(call),
    body: { anthropic_version: bodyVersion, ...body, ...(call.stream ? { stream: true } : {}) },
    losses: [...losses, ...refused],
  }
}

/** Older models refuse ids of calls here. */
function fitCallIds(body: Json, call: ProviderCall): void {
  if (!wantsSignatures(call.model)) dropCallIds(body)
}

function googleRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const { model, body, losses } = toGeminiBody(request, call, { excludesDomains: true })
  fitCallIds(body, call)
  const url = googleUrl(call, model, generateOperation(call.stream))
  return { method: 'POST', url, headers: headersOf(call), body, losses }
}

const openAiRequest = (request: ChatRequest, call: ProviderCall): UpstreamRequest => ({
  ...toOpenAiRequest(styleOf(call))(request, call),
  headers: headersOf(call),
})

const forms: Readonly<Record<Form, Pick<ChatTranslation, 'request' | 'response' | 'stream'>>> = {
  claude: { request: claudeRequest, response: fromClaudeResponse, stream: createClaudeDecoder },
  google: { request: googleRequest, response: fromGeminiResponse, stream: createGeminiDecoder },
  openai: {
    request: openAiRequest,
    response: (json, call) => toHubResponse(styleOf(call), json, call),
    stream: (call) => createOpenAiDecoder(styleOf(call), call),
  },
}

const profiles = { claude: cloudClaudeProfile, google: geminiProfile, openai: compatibleProfile }

/** One host, three forms: the model decides which. */
export const vertex: Provider = {
  id: 'vertex',
  telemetryName: 'gcp.vertex_ai',
  label: 'Vertex AI',
  channelTypes: [41],
  pricedAsClaude: (model) => formOf(model) === 'claude',
  framing: 'sse',
  chat: {
    profile: ({ model }) => ({ ...profiles[formOf(model)], mostOutput: outputLimitOf(model) }),
    request: (request, call) => forms[formOf(call.model)].request(request, call),
    response: (json, call) => forms[formOf(call.model)].response(json, call),
    stream: (call) => forms[formOf(call.model)].stream(call),
    resumes: true,
    media: 'inline',
    mostImages: (call) => (formOf(call.model) === 'google' ? mostImages : undefined),
    keepsAddress: ({ source }) => source.kind === 'url' && source.url.startsWith('gs://'),
  },
  afterOverride: (body, call) => {
    if (formOf(call.model) === 'claude') fitSampling(body, call)
    return undefined
  },
  plain: { embeddings: vertexEmbeddings(headersOf), images: geminiImages({ url: googleUrl, headers: headersOf }) },
  native: {
    claude: {
      ...nativeClaude({
        url: (call) => claudeUrl(call, planOf(call.model, call).suffix.model),
        headers: claudeHeaders,
        shape: (body, call) => {
          delete body['model']
          body['anthropic_version'] = bodyVersion
          return fitClaude(body, call).losses
        },
      }),
      accepts: (_, call) => formOf(call.model) === 'claude',
      countTokens: ({ json }, call) => {
        const { max_tokens: _, stream: __, temperature: ___, ...prompt } = json
        fitClaude(prompt, call)
        const model = toVertexClaude(planOf(call.model, call).suffix.model)
        const request = { method: 'POST' as const, url: claudeCountUrl(call), headers: claudeHeaders(call) }
        return {
          request: { ...request, body: { ...prompt, model, anthropic_version: bodyVersion } },
          read: (answer: unknown) => recordOf(answer)?.['input_tokens'],
        }
      },
    },
    gemini: {
      ...nativeGemini({
        url: (call, model) => googleUrl(call, model, generateOperation(call.stream)),
        headers: headersOf,
        shape: fitCallIds,
      }),
      accepts: (_, call) => formOf(call.model) === 'google',
    },
  },
  exchange: (channel, ambient) => exchangeOf(channel.key, ambient),
  error: readGeminiFailure,
  models: {
    request: (channel, token) => ({
      method: 'GET',
      url: `${baseOf({ channel, originalModel: '' })}/v1beta1/publishers/google/models`,
      headers: credentialHeaders({ channel, token }),
    }),
    read: (json) =>
      recordsOf(recordOf(json)?.['publisherModels']).flatMap((row) => wordOf(row['name'])?.split('/').at(-1) ?? []),
  },
}
