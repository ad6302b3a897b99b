import type { ChatDialect } from '../types.ts'
import { cutOpenAiResponses } from './cut.ts'
import { encodeOpenAiResponses } from './encode.ts'
import { responsesError, responsesStreamError } from './error.ts'
import { parseOpenAiResponses } from './parse.ts'
import { streamOpenAiResponses } from './stream.ts'

export const openAiResponses: ChatDialect = {
  id: 'openai-responses',
  parse: parseOpenAiResponses,
  encode: encodeOpenAiResponses,
  stream: streamOpenAiResponses,
  streamContentType: () => 'text/event-stream',
  error: responsesError,
  streamError: responsesStreamError,
  cutter: cutOpenAiResponses,
  ping: ': PING\n\n',
}
