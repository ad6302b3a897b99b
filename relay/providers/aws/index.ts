import type { UpstreamFailure } from '#relay/chat/events.ts'
import { fitSampling } from '../anthropic/override.ts'
import { planOf, toClaudeBody } from '../anthropic/request.ts'
import { nativeClaude } from '../anthropic/native.ts'
import { fromClaudeResponse } from '../anthropic/response.ts'
import { createClaudeDecoder } from '../anthropic/stream.ts'
import type { Provider, ProviderCall, UpstreamRequest } from '../types.ts'
import { readFailure } from '../wire/failures.ts'
import { type Json, recordOf, recordsOf, textOf, tryRecord, wordOf } from '../wire/json.ts'
import { baseOf, readKey } from './credential.ts'
import { createFrameReader } from './frames.ts'
import { toBedrockId } from './model-ids.ts'
import { signV4 } from './sign-v4.ts'

const bodyVersion = 'bedrock-2023-05-31'

function invokeUrl(call: ProviderCall, model: string): string {
  const id = encodeURIComponent(toBedrockId(model, readKey(call.channel.key).region))
  const operation = call.stream ? 'invoke-with-response-stream' : 'invoke'
  return `${baseOf(call.channel, 'bedrock-runtime')}/model/${id}/${operation}`
}

const plainHeaders = (call: ProviderCall): Record<string, string> => ({
  'content-type': 'application/json',
  accept: call.stream ? 'application/vnd.amazon.eventstream' : 'application/json',
})

/** The model stands in the path, the wish to stream in the operation, and the versions of the dialect in the body. */
function toBedrockBody(body: Json, call: ProviderCall): void {
  delete body['model']
  delete body['stream']
  body['anthropic_version'] = bodyVersion
  const betas =
    call.callerHeaders['anthropic-beta']
      ?.split(',')
      .map((beta) => beta.trim())
      .filter(Boolean) ?? []
  if (betas.length > 0) body['anthropic_beta'] = betas
}

function toRequest(request: Parameters<Provider['chat']['request']>[0], call: ProviderCall): UpstreamRequest {
  const { model, body, losses } = toClaudeBody(request, call)
  toBedrockBody(body, call)
  return { method: 'POST', url: invokeUrl(call, model), headers: plainHeaders(call), body, losses }
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
  ThrottlingException: 429,
  ModelNotReadyException: 429,
  ServiceQuotaExceededException: 429,
  UnrecognizedClientException: 401,
  ExpiredTokenException: 401,
}

/** The kind of exception, where the body names it, says more than the status. */
function readError(status: number, body: string): UpstreamFailure {
  const failure = readFailure(status, body)
  const json = tryRecord(body)
  const kind = textOf(json?.['__type'])?.split('#').at(-1)
  const message = wordOf(json?.['Message'])
  return {
    ...failure,
    ...(message !== undefined && failure.message === `upstream status ${status}` ? { message } : {}),
    ...(kind === undefined ? {} : { code: kind }),
    status: (kind !== undefined && Object.hasOwn(statuses, kind) ? statuses[kind] : undefined) ?? status,
  }
}

export const aws: Provider = {
  id: 'aws',
  label: 'AWS Bedrock',
  channelTypes: [33],
  pricedAsClaude: (model) => model.includes('claude'),
  framing: { contentType: 'application/vnd.amazon.eventstream', reader: createFrameReader },
  chat: {
    request: toRequest,
    response: (json, call) => fromClaudeResponse(json, call),
    stream: (call) => createClaudeDecoder(call),
    media: 'inline',
  },
  native: {
    claude: nativeClaude({
      url: (call) => invokeUrl(call, planOf(call.model, call).suffix.model),
      headers: plainHeaders,
      shape: toBedrockBody,
    }),
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
