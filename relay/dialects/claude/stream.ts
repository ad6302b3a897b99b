import type { ReportedUsage } from '#core/usage.ts'
import type { ChatEvent, StreamEncoder } from '#relay/chat/events.ts'
import { toMarkdownImage } from '#relay/chat/media.ts'
import { answerId } from '../answer-id.ts'
import { shownError } from '../error-text.ts'
import type { EncodeContext } from '../types.ts'
import { createBlocks } from './blocks.ts'
import { toClaudeCitation, toStopReason } from './encode.ts'
import { claudeStreamError } from './error.ts'
import { frame } from './frames.ts'
import { remoteCallBlocks, searchBlocks } from '#relay/chat/hosted/claude-blocks.ts'
import { toClaudeUsage } from './usage.ts'

type Finish = Extract<ChatEvent, { type: 'finish' }>
type ContentEvent = Exclude<ChatEvent, { type: 'start' | 'usage' | 'error' | 'finish' | 'logprobs' }>
type Blocks = ReturnType<typeof createBlocks>

/** Hub events → message stream; `message_delta` (stop reason, usage) and `message_stop` wait for `close`. */
export function streamClaude(context: EncodeContext): StreamEncoder {
  const blocks = createBlocks()
  let started = false
  let failed = false
  let refused = false
  let usage: ReportedUsage | undefined
  let finish: Finish | undefined

  const begin = (id: string): string => {
    if (started) return ''
    started = true
    const message = {
      id: answerId(id, 'msg_', context.ambient),
      type: 'message',
      role: 'assistant',
      model: context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toClaudeUsage({ promptTokens: context.estimatedPromptTokens }),
    }
    return frame('message_start', `,"message":${JSON.stringify(message)}`)
  }

  return {
    push(event) {
      if (failed) return ''
      if (event.type === 'error') {
        failed = true
        return claudeStreamError(shownError(event))
      }
      if (event.type === 'start') return begin(event.id)
      if (event.type === 'usage') {
        usage = event.usage
        return ''
      }
      // The dialect has one answer only, and no place for probabilities.
      if ((event.choice ?? 0) !== 0 || event.type === 'logprobs') return ''
      const opening = begin('')
      if (event.type === 'finish') {
        finish = event
        return opening + blocks.settle()
      }
      refused ||= event.type === 'refusal-delta'
      return opening + writeContent(blocks, event)
    },
    close() {
      if (failed) return ''
      const ending = begin('') + blocks.end()
      const delta = toStopReason(finish ?? { reason: 'stop' }, { calls: blocks.called(), refusal: refused })
      const counted = usage === undefined ? { output_tokens: 0 } : toClaudeUsage(usage)
      const closing = frame('message_delta', `,"delta":${JSON.stringify(delta)},"usage":${JSON.stringify(counted)}`)
      return ending + closing + frame('message_stop', '')
    },
  }
}

function writeContent(blocks: Blocks, event: ContentEvent): string {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
      return blocks.text(event.text)
    case 'image':
      return blocks.text(toMarkdownImage(event.mediaType, event.data))
    case 'audio-delta':
      return blocks.text(event.transcript ?? '')
    case 'citation':
      return blocks.citation(toClaudeCitation(event.citation))
    case 'web-search':
      return blocks.hosted(searchBlocks(event.search))
    case 'mcp-call':
      return blocks.hosted(remoteCallBlocks(event.call))
    case 'reasoning-delta':
      return blocks.thinking(event.text)
    case 'reasoning-signature':
      return event.dialect === 'claude' ? blocks.signature(event.value) : ''
    case 'reasoning-encrypted':
      return event.dialect === 'claude' ? blocks.redacted(event.data) : ''
    case 'tool-call-start':
    case 'tool-call-delta':
    case 'tool-call-end':
      return blocks.call(event)
  }
}
