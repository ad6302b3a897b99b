import type { UpstreamFailure } from '#relay/chat/events.ts'
import { openAiCompatible } from '../openai-compatible/index.ts'
import type { ProviderCall, ProviderChannel } from '../types.ts'
import { countOf, type Json, recordsOf, wordOf } from '../wire/json.ts'

const host = 'https://spark-api-open.xf-yun.com'

/** Versions of the socket surface → names of the models that serve them. */
const domains: Readonly<Record<string, string>> = {
  'v1.1': 'lite',
  'v2.1': 'generalv2',
  'v3.1': 'generalv3',
  'v3.5': 'generalv3.5',
  'v4.0': '4.0Ultra',
}

/** The version is the caller's, else what follows the only dash of the model's name, else the channel's. */
function versionOf({ channel, model, query }: ProviderCall): string {
  const parts = model.split('-')
  const named = parts.length === 2 && parts[1]?.startsWith('v') ? parts[1] : undefined
  return query['api-version'] || named || channel.other || 'v1.1'
}

function domainOf(call: ProviderCall): string {
  if (!call.model.toLowerCase().startsWith('sparkdesk')) return call.model
  const version = versionOf(call)
  return (Object.hasOwn(domains, version) ? domains[version] : undefined) ?? version
}

/** `appId|apiSecret|apiKey`, or the password of the HTTP surface as it is. */
function tokenOf({ key }: ProviderChannel): string {
  const [, secret, id] = key.split('|').map((part) => part.trim())
  return secret !== undefined && id !== undefined ? `${id}:${secret}` : key
}

/** Early models take instructions only as something the user said and they agreed to. */
function asTalk(messages: unknown): Json[] {
  return recordsOf(messages).flatMap((message) =>
    message['role'] === 'system'
      ? [
          { ...message, role: 'user' },
          { role: 'assistant', content: 'Okay' },
        ]
      : [message],
  )
}

const takesInstructions = new Set(['generalv3.5', '4.0Ultra', 'max-32k', 'pro-128k', 'generalv3', 'x1'])

function adjust(body: Json, call: ProviderCall): void {
  const domain = domainOf(call)
  body['model'] = domain
  const instructed = recordsOf(body['messages']).some((message) => message['role'] === 'system')
  if (instructed && !takesInstructions.has(domain)) body['messages'] = asTalk(body['messages'])
}

function statusOf(code: number): number {
  if (code === 11200) return 403
  if (code >= 11201 && code <= 11203) return 429
  return code === 10163 || code === 10907 || code === 10013 || code === 10014 ? 400 : 500
}

function refusal(answer: Json): UpstreamFailure | undefined {
  const code = countOf(answer['code'])
  if (code === undefined || code === 0 || Number.isNaN(code)) return undefined
  const message = wordOf(answer['message']) ?? `upstream code ${code}`
  return { status: statusOf(code), type: 'upstream_error', code, message, param: null }
}

/** The HTTP surface of the vendor; it takes the keys of the socket one, and its version is part of the model's name. */
export const xunfei = openAiCompatible({
  id: 'xunfei',
  label: 'iFlytek Spark',
  channelTypes: [18],
  url: (call) => {
    const base = call.channel.baseUrl || host
    return `${base}${domainOf(call).startsWith('x1') ? '/v2' : '/v1'}/chat/completions`
  },
  headers: (channel) => ({ authorization: `Bearer ${tokenOf(channel)}` }),
  streamUsage: false,
  modelsUrl: (channel) => `${channel.baseUrl || host}/v1/models`,
  adjust,
  refusal: { mark: '"code"', read: refusal },
})
