import type { ChatDialect } from '../types.ts'
import { cutGemini } from './cut.ts'
import { encodeGemini } from './encode.ts'
import { geminiError, geminiStreamError } from './error.ts'
import { parseGemini } from './parse.ts'
import { streamGemini } from './stream.ts'
import { vendorRefusals } from '../refusals.ts'
import { openAiRateLimitHeaders } from '../openai-chat/rate-limit-headers.ts'
import { geminiWithOutputLimit, geminiWithSystemPrompt } from './rewrite.ts'

export const gemini: ChatDialect = {
  id: 'gemini',
  parse: parseGemini,
  encode: encodeGemini,
  stream: streamGemini,
  streamContentType: ({ asJsonArray }) => (asJsonArray === true ? 'application/json' : 'text/event-stream'),
  error: geminiError,
  streamError: geminiStreamError,
  cutter: cutGemini,
  modelPlace: { unstreamed: ['modelVersion'], event: () => ['modelVersion'] },
  // An empty answer: several of Google's libraries refuse any line that is no data, and drop a chat's turn in which a chunk
  // has no parts, and others one without usage.
  ping: 'data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":""}]}}],"usageMetadata":{}}\n\n',
  refusesComments: true,
  native: 'gemini',
  keepsResponses: false,
  hasReasoningPlace: true,
  sealsReasoningAs: 'gemini',
  pricedAsClaude: false,
  servesExtensions: false,
  refusals: vendorRefusals,
  rateLimitHeaders: openAiRateLimitHeaders,
  withSystemPrompt: geminiWithSystemPrompt,
  withOutputLimit: geminiWithOutputLimit,
}
