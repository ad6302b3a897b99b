import { openAiError, openAiStreamError } from '../openai-chat/error.ts'
import { cutOpenAi } from '../openai-chat/cut.ts'
import type { LegacyDialect } from '../types.ts'
import { encodeOpenAiCompletions } from './encode.ts'
import { parseOpenAiCompletions } from './parse.ts'
import { streamOpenAiCompletions } from './stream.ts'
import { chatRefusals } from '../refusals.ts'
import { openAiRateLimitHeaders } from '../openai-chat/rate-limit-headers.ts'

export const openAiCompletions: LegacyDialect = {
  id: 'openai-completions',
  parse: parseOpenAiCompletions,
  encode: encodeOpenAiCompletions,
  stream: streamOpenAiCompletions,
  streamContentType: () => 'text/event-stream',
  error: openAiError,
  streamError: openAiStreamError,
  cutter: cutOpenAi,
  modelPlace: { unstreamed: ['model'], event: () => ['model'] },
  ping: ': PING\n\n',
  native: 'openai-completions',
  keepsResponses: false,
  hasReasoningPlace: false,
  pricedAsClaude: false,
  servesExtensions: false,
  refusals: chatRefusals,
  rateLimitHeaders: openAiRateLimitHeaders,
  withSystemPrompt: (body) => body,
  withOutputLimit: (body, limit) => ({ ...body, max_tokens: limit }),
}
