import type { ChatChoice, ChatResponse, Citation, FinishReason, ResponsePart } from '#relay/chat/events.ts'
import { citedStretches } from '#relay/chat/citations.ts'
import { parseObject } from '#relay/chat/json.ts'
import { toMarkdownImage } from '#relay/chat/media.ts'
import { answerId } from '../answer-id.ts'
import type { EncodeContext } from '../types.ts'
import { remoteCallBlocks, searchBlocks, completeBlocks } from '#relay/chat/hosted/claude-blocks.ts'
import { toClaudeUsage } from './usage.ts'

const stopReasons = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
} satisfies Record<FinishReason, string>

/** Some upstreams say "stop" although they called tools; agents of this dialect would take that for the end. */
export function toStopReason(
  finish: { reason: FinishReason; stopSequence?: string | null | undefined },
  saw: { calls: boolean; refusal: boolean },
): { stop_reason: string; stop_sequence: string | null } {
  if (finish.reason === 'stop') {
    if (saw.calls) return { stop_reason: 'tool_use', stop_sequence: null }
    if (saw.refusal) return { stop_reason: 'refusal', stop_sequence: null }
    if (finish.stopSequence) return { stop_reason: 'stop_sequence', stop_sequence: finish.stopSequence }
  }
  return { stop_reason: stopReasons[finish.reason], stop_sequence: null }
}

export const toClaudeCitation = (citation: Citation) => ({
  type: 'web_search_result_location',
  url: citation.url,
  title: citation.title ?? citation.url,
  cited_text: citation.citedText ?? '',
  encrypted_index: '',
})

/** Hub answer → message. Further choices have no place in this dialect. */
export function encodeClaude(response: ChatResponse, context: EncodeContext): unknown {
  const choice: ChatChoice = response.choices[0] ?? { parts: [], finish: 'stop' }
  let before = 0
  const content = choice.parts.flatMap((part) => {
    const blocks = toBlocks(part, before)
    if (part.type === 'text') before += part.text.length
    return blocks
  })
  const has = (type: ResponsePart['type']) => choice.parts.some((part) => part.type === type)
  const saw = { calls: has('tool-call'), refusal: has('refusal') }
  return {
    id: answerId(response.id, 'msg_', context.ambient),
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: content.length === 0 ? [toText('')] : content,
    ...toStopReason({ reason: choice.finish, stopSequence: choice.stopSequence }, saw),
    usage: toClaudeUsage(response.usage ?? {}),
  }
}

const toText = (text: string) => ({ type: 'text', text })

/** `before`: the length of the text in the answer up to it. */
function toBlocks(part: ResponsePart, before: number): object[] {
  switch (part.type) {
    case 'text':
      return citedStretches(part.text, part.citations ?? [], before).map(({ text, citations }) =>
        citations.length === 0 ? toText(text) : { ...toText(text), citations: citations.map(toClaudeCitation) },
      )
    case 'web-search':
      return completeBlocks(searchBlocks(part.search))
    case 'mcp-call':
      return completeBlocks(remoteCallBlocks(part.call))
    case 'refusal':
      return part.text === '' ? [] : [toText(part.text)]
    case 'reasoning':
      return toThinking(part)
    case 'tool-call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: toInput(part) }]
    case 'image':
      return [toText(toMarkdownImage(part.mediaType, part.data))]
    case 'audio':
      return part.transcript === '' ? [] : [toText(part.transcript)]
  }
}

/** Proofs and secrets of another vendor's reasoning mean nothing here and are left out. */
function toThinking(part: Extract<ResponsePart, { type: 'reasoning' }>): object[] {
  const { text, signature, encrypted } = part
  const proof = signature?.dialect === 'claude' ? signature.value : ''
  const shown = text === '' && proof === '' ? [] : [{ type: 'thinking', thinking: text, signature: proof }]
  return encrypted?.dialect === 'claude' ? [...shown, { type: 'redacted_thinking', data: encrypted.data }] : shown
}

function toInput(call: Extract<ResponsePart, { type: 'tool-call' }>): object {
  return call.kind === 'custom' ? { input: call.arguments } : (parseObject(call.arguments) ?? {})
}
