import type { ChatChoice, ChatResponse, FinishReason, ResponsePart } from '#relay/chat/events.ts'
import { toMarkdownImage } from '#relay/chat/media.ts'
import { answerId, unixSeconds } from '../answer-id.ts'
import { toOpenAiUsage } from '../openai-chat/usage.ts'
import type { EncodeContext } from '../types.ts'

export const completionReasons = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'stop',
  'content-filter': 'content_filter',
} satisfies Record<FinishReason, string>

function shownText(part: ResponsePart): string {
  if (part.type === 'text' || part.type === 'refusal') return part.text
  return part.type === 'image' ? toMarkdownImage(part.mediaType, part.data) : ''
}

export const textOfChoice = ({ parts }: ChatChoice): string => parts.map(shownText).join('')

/** What every reply and every chunk of one answer repeats. */
export const completionHead = (id: string, context: EncodeContext) => ({
  id: answerId(id, 'cmpl-', context.ambient),
  object: 'text_completion',
  created: unixSeconds(context.ambient),
  model: context.model,
  system_fingerprint: null,
})

/** Hub answer → text completion; reasoning and tool calls have no place in it. */
export function encodeOpenAiCompletions(response: ChatResponse, context: EncodeContext): unknown {
  return {
    ...completionHead(response.id, context),
    choices: response.choices.map((choice, index) => ({
      text: textOfChoice(choice),
      index,
      logprobs: null,
      finish_reason: completionReasons[choice.finish],
    })),
    ...(response.usage === undefined ? {} : { usage: toOpenAiUsage(response.usage) }),
  }
}
