import { openAiError, openAiStreamError } from '../openai-chat/error.ts'
import { cutOpenAi } from '../openai-chat/cut.ts'
import type { LegacyDialect } from '../types.ts'
import { encodeOpenAiCompletions } from './encode.ts'
import { parseOpenAiCompletions } from './parse.ts'
import { streamOpenAiCompletions } from './stream.ts'

export const openAiCompletions: LegacyDialect = {
  id: 'openai-completions',
  parse: parseOpenAiCompletions,
  encode: encodeOpenAiCompletions,
  stream: streamOpenAiCompletions,
  streamContentType: () => 'text/event-stream',
  error: openAiError,
  streamError: openAiStreamError,
  cutter: cutOpenAi,
  ping: ': PING\n\n',
}
