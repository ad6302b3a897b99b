import type { ChatDialect } from '../types.ts'
import { cutOpenAi } from './cut.ts'
import { encodeOpenAiChat } from './encode.ts'
import { openAiError, openAiStreamError } from './error.ts'
import { parseOpenAiChat } from './parse.ts'
import { replayOpenAiChat } from './replay.ts'
import { streamOpenAiChat } from './stream.ts'
import { chatRefusals } from '../refusals.ts'
import { chatBodyOf } from './other-forms.ts'
import { withFunctionCalls } from './function-calls.ts'
import { openAiRateLimitHeaders } from './rate-limit-headers.ts'
import { withUsageChunk } from './missing-usage.ts'
import { openAiWithOutputLimit, openAiWithSystemPrompt } from './rewrite.ts'

export const openAiChat: ChatDialect = {
  id: 'openai-chat',
  fromOtherForm: (given) => {
    const made = chatBodyOf(given)
    if (!made) return undefined
    const { freeText, ...rest } = made
    return { ...rest, dialect: freeText.size > 0 ? withFunctionCalls(openAiChat, freeText) : openAiChat }
  },
  parse: parseOpenAiChat,
  encode: encodeOpenAiChat,
  stream: streamOpenAiChat,
  replay: replayOpenAiChat,
  streamContentType: () => 'text/event-stream',
  error: openAiError,
  streamError: openAiStreamError,
  cutter: cutOpenAi,
  modelPlace: { unstreamed: ['model'], event: () => ['model'] },
  ping: ': PING\n\n',
  native: 'openai-chat',
  keepsResponses: false,
  hasReasoningPlace: false,
  pricedAsClaude: false,
  servesExtensions: true,
  refusals: chatRefusals,
  rateLimitHeaders: openAiRateLimitHeaders,
  withSystemPrompt: openAiWithSystemPrompt,
  withOutputLimit: openAiWithOutputLimit,
  withUsage: withUsageChunk,
}
