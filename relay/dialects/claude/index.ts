import { isObject } from '#relay/chat/json.ts'
import type { ChatDialect } from '../types.ts'
import { cutClaude } from './cut.ts'
import { encodeClaude } from './encode.ts'
import { claudeError, claudeStreamError } from './error.ts'
import { parseClaude } from './parse.ts'
import { streamClaude } from './stream.ts'
import { vendorRefusals } from '../refusals.ts'
import { claudeRateLimitHeaders } from './rate-limit-headers.ts'
import { claudeWithOutputLimit, claudeWithSystemPrompt } from './rewrite.ts'

export const claude: ChatDialect = {
  id: 'claude',
  parse: parseClaude,
  encode: encodeClaude,
  stream: streamClaude,
  streamContentType: () => 'text/event-stream',
  error: claudeError,
  streamError: claudeStreamError,
  cutter: cutClaude,
  modelPlace: {
    unstreamed: ['model'],
    event: ({ event }) => (event === 'message_start' ? ['message', 'model'] : undefined),
  },
  namesEvents: true,
  ping: 'event: ping\ndata: {"type":"ping"}\n\n',
  native: 'claude',
  threadOf: ({ thread }) =>
    isObject(thread)
      ? { continues: typeof thread['previous_message_id'] === 'string' ? thread['previous_message_id'] : undefined }
      : undefined,
  keepsResponses: false,
  hasOneAnswer: true,
  hasReasoningPlace: true,
  sealsReasoningAs: 'claude',
  pricedAsClaude: true,
  servesExtensions: false,
  refusals: vendorRefusals,
  requestIdHeader: 'request-id',
  rateLimitHeaders: claudeRateLimitHeaders,
  withSystemPrompt: claudeWithSystemPrompt,
  withOutputLimit: claudeWithOutputLimit,
  countingDefaults: { max_tokens: 1 },
}
