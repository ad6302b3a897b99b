import type { ChatResponse } from '#relay/chat/events.ts'
import { cutOpenAi } from '../openai-chat/cut.ts'
import { unixSeconds } from '../answer-id.ts'
import { openAiError, openAiStreamError } from '../openai-chat/error.ts'
import { toOpenAiUsage } from '../openai-chat/usage.ts'
import { textOfChoice } from '../openai-completions/encode.ts'
import { streamOpenAiCompletions } from '../openai-completions/stream.ts'
import type { EncodeContext, LegacyDialect } from '../types.ts'
import { parseOpenAiEdits } from './parse.ts'
import { chatRefusals } from '../refusals.ts'
import { openAiRateLimitHeaders } from '../openai-chat/rate-limit-headers.ts'

/** Hub answer → edit; reasoning and tool calls have no place in it. */
const encode = (response: ChatResponse, { ambient }: EncodeContext): unknown => ({
  object: 'edit',
  created: unixSeconds(ambient),
  choices: response.choices.map((choice, index) => ({ text: textOfChoice(choice), index })),
  ...(response.usage === undefined ? {} : { usage: toOpenAiUsage(response.usage) }),
})

export const openAiEdits: LegacyDialect = {
  id: 'openai-edits',
  parse: parseOpenAiEdits,
  encode,
  stream: streamOpenAiCompletions,
  streamContentType: () => 'text/event-stream',
  error: openAiError,
  streamError: openAiStreamError,
  cutter: cutOpenAi,
  modelPlace: null,
  ping: ': PING\n\n',
  native: null,
  keepsResponses: false,
  hasReasoningPlace: false,
  pricedAsClaude: false,
  servesExtensions: false,
  refusals: chatRefusals,
  rateLimitHeaders: openAiRateLimitHeaders,
  withSystemPrompt: (body) => body,
  withOutputLimit: (body, limit) => ({ ...body, max_tokens: limit }),
}
