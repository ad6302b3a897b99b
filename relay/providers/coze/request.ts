import { DomainError } from '#core/errors.ts'
import type { ChatRequest, Message } from '#relay/chat/request.ts'
import { bearer } from '../openai-compatible/address.ts'
import type { ProviderCall, ProviderChannel, UpstreamRequest } from '../types.ts'
import { unsupported, withFormatInstruction } from '../shared/unsupported-fields.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'

const rootOf = ({ baseUrl }: Pick<ProviderChannel, 'baseUrl'>): string => baseUrl.replace(/\/v[13]$/, '')

export const filesUrl = (channel: Pick<ProviderChannel, 'baseUrl'>): string => `${rootOf(channel)}/v1/files/upload`

function mediaOf(message: Message, losses: Set<string>): Json[] {
  if (message.role !== 'user') return []
  return message.content.flatMap((part): Json[] => {
    if (part.type !== 'image' && part.type !== 'file' && part.type !== 'audio') return []
    if (part.source.kind === 'url') return [{ type: part.type, file_url: part.source.url }]
    if (part.source.kind === 'file-id') return [{ type: part.type, file_id: part.source.id }]
    losses.add(part.type)
    return []
  })
}

function textOf(message: Message): string {
  const texts = (
    message.content as { type: string; text?: string; content?: { type: string; text?: string }[] }[]
  ).flatMap((part) => {
    if (part.type === 'text') return part.text ?? []
    return part.type === 'tool-result' ? (part.content ?? []).flatMap((inner) => inner.text ?? []) : []
  })
  return texts.join('\n')
}

/** Bots have instructions of their own; what the caller says as instructions is sent as the user's message. */
function toMessage(message: Message, losses: Set<string>): Json[] {
  const text = textOf(message)
  const media = mediaOf(message, losses)
  if (text === '' && media.length === 0) return []
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  const type = role === 'assistant' ? 'answer' : 'question'
  if (media.length === 0) return [{ role, type, content_type: 'text', content: text }]
  const parts = [...(text === '' ? [] : [{ type: 'text', text }]), ...media]
  return [{ role, type, content_type: 'object_string', content: JSON.stringify(parts) }]
}

/** @throws {DomainError} unsupported.no_bot */
export function toCozeRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const { channel, ambient } = call
  const botId = channel.other.trim()
  if (botId === '') throw new DomainError('unsupported.no_bot')
  const losses = new Set(unsupported(request))
  return {
    method: 'POST',
    url: `${rootOf(channel)}/v3/chat`,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...bearer(channel.key) },
    body: withoutAbsent({
      bot_id: botId,
      user_id: request.user ?? ambient.newId(16),
      stream: true,
      auto_save_history: true,
      additional_messages: withFormatInstruction(request).flatMap((message) => toMessage(message, losses)),
    }),
    losses: [...losses],
  }
}
