import type { ReportedUsage } from '#core/usage.ts'
import type { ProviderCall, RealtimeCaller, RealtimeTranslation, SocketRequest } from '../types.ts'
import { countOf, recordOf, sumOf } from '../shared/json.ts'
import { channelHeaders } from './address.ts'
import type { OpenAiStyle } from './style.ts'

/** What may stand in a sub-protocol: a key with anything else has to go into a header. */
const isToken = (text: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)

function withoutAuthorization(headers: Record<string, string>): Record<string, string> {
  const { authorization: _, ...rest } = headers
  return rest
}

function toSocketRequest(
  style: OpenAiStyle,
  { call, caller, url }: { call: ProviderCall; caller: RealtimeCaller; url: string },
): SocketRequest {
  const { channel } = call
  const headers = channelHeaders(style, channel)
  const address = url.replace(/^http/i, 'ws')
  const beta: Record<string, string> = caller.beta ? { 'openai-beta': 'realtime=v1' } : {}
  if (style.keyInHeaderOnly) return { url: address, headers, protocols: [] }
  if (!caller.byProtocols || !isToken(channel.key)) {
    return { url: address, headers: { ...headers, ...beta }, protocols: [] }
  }
  const protocols = ['realtime', `openai-insecure-api-key.${channel.key}`]
  if (caller.beta) protocols.push('openai-beta.realtime-v1')
  return { url: address, headers: withoutAuthorization(headers), protocols }
}

/** What the address of a session asks for: a model, or a session that only transcribes. */
export const realtimeQuery = (model: string, { transcribes }: RealtimeCaller): string =>
  transcribes ? 'intent=transcription' : `model=${encodeURIComponent(model)}`

/** The counts of one response. Some servers leave the totals out. */
export function readRealtimeUsage(value: unknown): ReportedUsage | undefined {
  const usage = recordOf(value)
  if (!usage) return undefined
  const input = recordOf(usage['input_token_details']) ?? recordOf(usage['input_tokens_details']) ?? {}
  const output = recordOf(usage['output_token_details']) ?? recordOf(usage['output_tokens_details']) ?? {}
  const parts = (details: Record<string, unknown>) =>
    sumOf(countOf(details['text_tokens']), countOf(details['audio_tokens']), countOf(details['image_tokens']))
  return {
    promptTokens: countOf(usage['input_tokens']) ?? parts(input),
    cachedTokens: countOf(input['cached_tokens']),
    audioInputTokens: countOf(input['audio_tokens']),
    imageInputTokens: countOf(input['image_tokens']),
    completionTokens: countOf(usage['output_tokens']) ?? parts(output),
    audioOutputTokens: countOf(output['audio_tokens']),
  }
}

export const openAiRealtime = (
  style: OpenAiStyle,
  url: NonNullable<OpenAiStyle['realtimeUrl']>,
): RealtimeTranslation => ({
  request: (call, caller) => toSocketRequest(style, { call, caller, url: url(call, caller) }),
  usage: readRealtimeUsage,
  billsUnread: style.realtimeBillsUnread,
  transcribes: style.realtimeNeverTranscribes !== true,
  resumes: style.realtimeResumes,
})
