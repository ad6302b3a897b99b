import type { UpstreamFailure } from '#relay/chat/events.ts'
import { type ProviderCall, type ProviderChannel, UpstreamRefusal } from '../../types.ts'
import { type Json, recordOf, recordsOf, wordOf } from '../../shared/json.ts'
import { bearer } from '../address.ts'
import type { OpenAiStyle } from '../style.ts'
import { openAiCompatible } from '../index.ts'
import { cloudflareImages, cloudflareTranscription } from './cloudflare-plain.ts'

const statuses: Readonly<Record<string, number>> = { 10000: 401, 7003: 404, 5007: 404, 3036: 429, 3040: 429 }

/** The account stands in the channel's extra field, or before the token in the key. */
function credentialOf({ key, other }: ProviderChannel): { account: string; token: string } {
  const at = key.indexOf('|')
  return at < 0 ? { account: other, token: key } : { account: other || key.slice(0, at), token: key.slice(at + 1) }
}

const accountUrl = (channel: ProviderChannel): string =>
  `${channel.baseUrl}/client/v4/accounts/${encodeURIComponent(credentialOf(channel).account)}/ai`

/** Names of models are paths; nothing in one may lead elsewhere. */
const modelPath = (model: string): string =>
  model
    .split('/')
    .map((segment) => encodeURIComponent(segment).replace('%40', '@'))
    .join('/')

function firstError(answer: Json, status: number): UpstreamFailure | undefined {
  const [error] = recordsOf(answer['errors'])
  const message = wordOf(error?.['message'])
  if (!error || message === undefined) return undefined
  const code = typeof error['code'] === 'number' ? error['code'] : null
  return { status: statuses[String(code)] ?? status, type: 'upstream_error', code, message, param: null }
}

function error(failure: UpstreamFailure, body: string): UpstreamFailure {
  try {
    return firstError(JSON.parse(body) as Json, failure.status) ?? failure
  } catch {
    return failure
  }
}

const refusal: NonNullable<OpenAiStyle['refusal']> = {
  mark: '"success"',
  read: (answer) => (answer['success'] === false ? firstError(answer, 500) : undefined),
}

/** Everything but chat and embeddings is asked of the model itself. */
const host = {
  runUrl: ({ channel, model }: ProviderCall) => `${accountUrl(channel)}/run/${modelPath(model)}`,
  headers: ({ channel }: ProviderCall) => bearer(credentialOf(channel).token),
  refuse(json: unknown) {
    const failure = refusal.read(recordOf(json) ?? {})
    if (failure) throw new UpstreamRefusal(failure)
  },
}

export const cloudflare = openAiCompatible({
  id: 'cloudflare',
  label: 'Cloudflare Workers AI',
  channelTypes: [39],
  url: ({ channel }) => `${accountUrl(channel)}/v1/chat/completions`,
  headers: (channel) => bearer(credentialOf(channel).token),
  modelsUrl: (channel) => `${accountUrl(channel)}/models/search`,
  refusal,
  plain: { images: cloudflareImages(host), transcriptions: cloudflareTranscription(host) },
  error,
})
