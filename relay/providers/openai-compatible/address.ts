import type { ProviderCall, ProviderChannel } from '../types.ts'
import { joinPath } from '../shared/join-path.ts'
import type { OpenAiStyle } from './style.ts'

export const chatUrl = (style: OpenAiStyle, call: ProviderCall): string =>
  style.url?.(call) ?? joinPath(call.channel.baseUrl, style.version ?? '/v1', '/chat/completions')

export const bearer = (key: string): Record<string, string> => (key === '' ? {} : { authorization: `Bearer ${key}` })

export function channelHeaders(style: OpenAiStyle, channel: ProviderChannel): Record<string, string> {
  return style.headers?.(channel) ?? bearer(channel.key)
}

export const requestHeaders = (style: OpenAiStyle, call: ProviderCall): Record<string, string> => ({
  'content-type': 'application/json',
  accept: call.stream ? 'text/event-stream' : 'application/json',
  ...channelHeaders(style, call.channel),
  ...style.chatHeaders?.(call),
})
