import type { TargetProfile } from '#relay/chat/fit/profile.ts'
import { plainRoot } from '#relay/chat/fit/schema-root.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { fitSampling } from '../anthropic/override.ts'
import { planOf, toClaudeBody } from '../anthropic/request.ts'
import { nativeClaude } from '../anthropic/native.ts'
import { bedrockPlatform, fitToPlatform } from '../anthropic/platforms.ts'
import { cloudClaudeProfile } from '../anthropic/profile.ts'
import { fromClaudeResponse } from '../anthropic/response.ts'
import { createClaudeDecoder } from '../anthropic/stream.ts'
import type { NativeBody, Provider, ProviderCall, ReplyHeaders, UpstreamRequest } from '../types.ts'
import { readFailure } from '../shared/failures.ts'
import { type Json, recordOf, recordsOf, textOf, tryRecord, wordOf } from '../shared/json.ts'
import { createConverseDecoder, fromConverseAnswer } from './converse/answer.ts'
import { answersUnstreamed, toConverseBody } from './converse/request.ts'
import { baseOf, readKey } from './credential.ts'
import { createFrameReader } from './frames.ts'
import { toBedrockId } from './model-ids.ts'
import { signV4 } from './sign-v4.ts'

/**
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html (`name`: 1 to 64, [a-zA-Z0-9_-]+) and
 * API_runtime_ToolUseBlock.html (`toolUseId`: the same).
 */
const converseProfile: TargetProfile = {
  toolName: { longest: 64, pattern: /^[a-zA-Z0-9_-]+$/ },
  callId: { longest: 64, pattern: /^[a-zA-Z0-9_-]+$/ },
  schemas: { parameters: plainRoot },
}

const bodyVersion = 'bedrock-2023-05-31'

/** Claude is called in its own dialect; every other vendor's model in the one form they share. */
const isClaude = (model: string): boolean => /claude|anthropic\./.test(model)

function modelUrl(call: ProviderCall, model: string, operation: string): string {
  const id = encodeURIComponent(toBedrockId(model, readKey(call.channel.key).region))
  return `${baseOf(call.channel, 'bedrock-runtime')}/model/${id}/${operation}`
}

const invokeUrl = (call: ProviderCall, model: string): string =>
  modelUrl(call, model, call.stream ? 'invoke-with-response-stream' : 'invoke')

const plainHeaders = (call: ProviderCall): Record<string, string> => ({
  'content-type': 'application/json',
  accept: call.stream ? 'application/vnd.amazon.eventstream' : 'application/json',
})

/** The model stands in the path, streaming in the operation, and the versions of the dialect in the body. */
function toBedrockBody(body: Json, call: ProviderCall): string[] {
  delete body['model']
  delete body['stream']
  body['anthropic_version'] = bodyVersion
  delete body['anthropic_beta']
  const { betas, losses } = fitToPlatform(body, call.callerHeaders['anthropic-beta'], bedrockPlatform)
  if (betas.length > 0) body['anthropic_beta'] = betas
  return losses
}

type ChatRequest = Parameters<Provider['chat']['request']>[0]

function toConverseRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const { body, losses } = toConverseBody(request, call)
  const url = modelUrl(call, call.model, call.stream ? 'converse-stream' : 'converse')
  return { method: 'POST', url, headers: plainHeaders(call), body, losses }
}

function toRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  if (!isClaude(call.model)) return toConverseRequest(request, call)
  const { model, body, losses } = toClaudeBody(request, call)
  const refused = toBedrockBody(body, call)
  const headers = plainHeaders(call)
  return { method: 'POST', url: invokeUrl(call, model), headers, body, losses: [...losses, ...refused] }
}

const claude = nativeClaude({
  url: (call) => invokeUrl(call, planOf(call.model, call).suffix.model),
  headers: plainHeaders,
  shape: toBedrockBody,
})

/** The call that would be made, packed as it would be sent. */
function countRequest(native: NativeBody, call: ProviderCall) {
  const { headers, body } = claude.request(native, { ...call, stream: false })
  const packed = Buffer.from(bodyText(body)).toString('base64')
  const url = modelUrl(call, planOf(call.model, call).suffix.model, 'count-tokens')
  return {
    request: { method: 'POST' as const, url, headers, body: { input: { invokeModel: { body: packed } } } },
    read: (json: unknown) => recordOf(json)?.['inputTokens'],
  }
}

const bodyText = (body: unknown): string | Uint8Array => {
  if (body === undefined) return ''
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
}

function sign(
  request: UpstreamRequest,
  { channel, ambient }: Pick<ProviderCall, 'channel' | 'ambient'>,
): UpstreamRequest {
  const key = readKey(channel.key)
  if (key.kind === 'bearer') {
    return { ...request, headers: { ...request.headers, authorization: `Bearer ${key.token}` } }
  }
  const body = bodyText(request.body)
  const { method, url, headers } = request
  return {
    ...request,
    body,
    headers: signV4({ method, url, headers, body, service: 'bedrock', now: ambient.now() }, key),
  }
}

const statuses: Readonly<Record<string, number>> = {
  AccessDeniedException: 403,
  ResourceNotFoundException: 404,
  ModelTimeoutException: 408,
  ModelErrorException: 424,
  ServiceUnavailableException: 503,
  ThrottlingException: 429,
  ModelNotReadyException: 429,
  ServiceQuotaExceededException: 429,
  UnrecognizedClientException: 403,
  ExpiredTokenException: 403,
}

/** Kinds that say of the key itself that it is of no more use, whatever their words. */
const refusedKey = new Set(['UnrecognizedClientException', 'ExpiredTokenException'])

/** `Kind:http://…` in the header, `namespace#Kind` in a body. */
function kindOf(json: Json | undefined, headers: ReplyHeaders | undefined): string | undefined {
  const named = headers?.['x-amzn-errortype'] ?? json?.['__type']
  return textOf(named)?.split(':')[0]?.split('#').at(-1)
}

/** The kind of exception says more than the status. */
function readError(status: number, body: string, headers?: ReplyHeaders): UpstreamFailure {
  const failure = readFailure(status, body)
  const json = tryRecord(body)
  const kind = kindOf(json, headers)
  const message = wordOf(json?.['Message'])
  return {
    ...failure,
    ...(message !== undefined && failure.message === `upstream status ${status}` ? { message } : {}),
    ...(kind === undefined ? {} : { code: kind }),
    ...(kind !== undefined && refusedKey.has(kind) ? { type: 'authentication_error' } : {}),
    status: (kind !== undefined && Object.hasOwn(statuses, kind) ? statuses[kind] : undefined) ?? status,
  }
}

export const aws: Provider = {
  id: 'aws',
  telemetryName: 'aws.bedrock',
  label: 'AWS Bedrock',
  channelTypes: [33],
  pricedAsClaude: isClaude,
  framing: { contentType: 'application/vnd.amazon.eventstream', reader: createFrameReader },
  chat: {
    profile: (call) => (isClaude(call.model) ? cloudClaudeProfile : converseProfile),
    request: toRequest,
    response: (json, call) => (isClaude(call.model) ? fromClaudeResponse(json, call) : fromConverseAnswer(json, call)),
    stream: (call) => (isClaude(call.model) ? createClaudeDecoder(call) : createConverseDecoder(call)),
    answersUnstreamed: (request, model) => !isClaude(model) && answersUnstreamed(request, model),
    resumes: true,
    media: 'inline',
  },
  native: {
    claude: {
      ...claude,
      accepts: (_, call) => isClaude(call.model),
      countTokens: countRequest,
    },
  },
  afterOverride: (body, call) => {
    fitSampling(body, call)
    return undefined
  },
  sign,
  error: readError,
  models: {
    request: (channel) => ({
      method: 'GET',
      url: `${baseOf(channel, 'bedrock')}/foundation-models`,
      headers: { accept: 'application/json' },
    }),
    read: (json) => recordsOf(recordOf(json)?.['modelSummaries']).flatMap((row) => wordOf(row['modelId']) ?? []),
  },
}
