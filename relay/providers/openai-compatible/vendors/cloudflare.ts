import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { ProviderChannel } from '../../types.ts'
import { type Json, recordsOf, wordOf } from '../../wire/json.ts'
import { bearer } from '../address.ts'
import { openAiCompatible } from '../index.ts'

const statuses: Readonly<Record<string, number>> = { 10000: 401, 7003: 404, 5007: 404, 3036: 429, 3040: 429 }

/** The account stands in the channel's extra field, or before the token in the key. */
function credentialOf({ key, other }: ProviderChannel): { account: string; token: string } {
  const at = key.indexOf('|')
  return at < 0 ? { account: other, token: key } : { account: other || key.slice(0, at), token: key.slice(at + 1) }
}

const accountUrl = (channel: ProviderChannel): string =>
  `${channel.baseUrl}/client/v4/accounts/${encodeURIComponent(credentialOf(channel).account)}/ai`

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

export const cloudflare = openAiCompatible({
  id: 'cloudflare',
  label: 'Cloudflare Workers AI',
  channelTypes: [39],
  url: ({ channel }) => `${accountUrl(channel)}/v1/chat/completions`,
  headers: (channel) => bearer(credentialOf(channel).token),
  modelsUrl: (channel) => `${accountUrl(channel)}/models/search`,
  refusal: {
    mark: '"success"',
    read: (answer) => (answer['success'] === false ? firstError(answer, 500) : undefined),
  },
  error,
})
