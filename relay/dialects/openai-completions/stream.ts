import type { ReportedUsage } from '#core/usage.ts'
import type { ChatEvent, FinishReason, StreamEncoder } from '#relay/chat/events.ts'
import { toMarkdownImage } from '#relay/chat/media.ts'
import { openAiStreamError } from '../openai-chat/error.ts'
import { toOpenAiUsage } from '../openai-chat/usage.ts'
import { shownError } from '../error-text.ts'
import type { EncodeContext } from '../types.ts'
import { completionHead, completionReasons } from './encode.ts'

function shownText(event: ChatEvent): string {
  if (event.type === 'text-delta' || event.type === 'refusal-delta') return event.text
  return event.type === 'image' ? toMarkdownImage(event.mediaType, event.data) : ''
}

/** Hub events → `text_completion` chunks; finish reasons, usage and `[DONE]` wait for `close`. */
export function streamOpenAiCompletions(context: EncodeContext): StreamEncoder {
  const finishes = new Map<number, FinishReason>()
  let prefix = ''
  let usage: ReportedUsage | undefined
  let failed = false

  const begin = (id: string): void => {
    if (prefix === '') prefix = `data: ${JSON.stringify(completionHead(id, context)).slice(0, -1)},"choices":[`
  }
  const chunk = (index: number, text: string, finish: string): string =>
    `${prefix}{"text":${JSON.stringify(text)},"index":${index},"logprobs":null,"finish_reason":${finish}}]}\n\n`

  return {
    push(event) {
      if (failed) return ''
      if (event.type === 'error') {
        failed = true
        return openAiStreamError(shownError(event))
      }
      begin(event.type === 'start' ? event.id : '')
      if (event.type === 'usage') usage = event.usage
      if (event.type === 'start' || event.type === 'usage') return ''
      const index = event.choice ?? 0
      if (event.type === 'finish') finishes.set(index, event.reason)
      const text = shownText(event)
      return text === '' ? '' : chunk(index, text, 'null')
    },
    close() {
      if (failed) return ''
      begin('')
      if (finishes.size === 0) finishes.set(0, 'stop')
      const ends = [...finishes].map(([index, reason]) => chunk(index, '', `"${completionReasons[reason]}"`))
      const counted =
        context.includeUsage && usage !== undefined
          ? `${prefix}],"usage":${JSON.stringify(toOpenAiUsage(usage))}}\n\n`
          : ''
      return `${ends.join('')}${counted}data: [DONE]\n\n`
    },
  }
}
