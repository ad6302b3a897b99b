import { isObject } from '#relay/chat/json.ts'
import type { ChatDialect } from '../types.ts'
import { asksForCompaction, bringsConversation, summaryRequest, withoutTrigger } from './compaction.ts'
import { cutOpenAiResponses } from './cut.ts'
import { encodeOpenAiResponses } from './encode.ts'
import { responsesError } from './error.ts'
import { parseOpenAiResponses } from './parse.ts'
import { responsesStreamError, streamOpenAiResponses } from './stream.ts'
import { openAiRateLimitHeaders } from '../openai-chat/rate-limit-headers.ts'
import { responsesWithOutputLimit, responsesWithSystemPrompt } from './rewrite.ts'

/** Events that hold the response as it is so far. */
const fullResponses = /^response\.(created|queued|in_progress|completed|incomplete|failed|cancelled)$/

/** Codex reads no reason in a 400, and shortens its conversation after `response.failed` alone. */
const isCodex = (headers: Readonly<Record<string, unknown>>): boolean =>
  [headers['originator'], headers['user-agent']].some((name) => typeof name === 'string' && /^codex/i.test(name))

export const openAiResponses: ChatDialect = {
  id: 'openai-responses',
  parse: (value, path) =>
    isObject(value) && asksForCompaction(value) && bringsConversation(value)
      ? summaryRequest(withoutTrigger(value), path)
      : parseOpenAiResponses(value, path),
  encode: encodeOpenAiResponses,
  stream: streamOpenAiResponses,
  streamContentType: () => 'text/event-stream',
  error: responsesError,
  streamError: responsesStreamError,
  readsOverflowInStream: isCodex,
  cutter: cutOpenAiResponses,
  modelPlace: {
    unstreamed: ['model'],
    event: ({ event = '' }) => (fullResponses.test(event) ? ['response', 'model'] : undefined),
  },
  instructionsPlace: { unstreamed: ['instructions'], event: ['response', 'instructions'] },
  namesEvents: true,
  ping: ': PING\n\n',
  native: 'openai-responses',
  operation: 'responses',
  keepsResponses: true,
  hasOneAnswer: true,
  hasReasoningPlace: true,
  sealsReasoningAs: 'openai-responses',
  asksForSummaries: true,
  pricedAsClaude: false,
  servesExtensions: false,
  refusals: {
    modelUnlisted: 'relay.no_channel',
    sensitiveWords: 'relay.sensitive_words_responses',
    mappingCycle: 'relay.model_mapping_cycle_responses',
    mappingUnreadable: 'relay.model_mapping_unreadable_responses',
    upstreamBusy: 'relay.upstream_busy',
  },
  rateLimitHeaders: openAiRateLimitHeaders,
  withSystemPrompt: responsesWithSystemPrompt,
  withOutputLimit: responsesWithOutputLimit,
}
