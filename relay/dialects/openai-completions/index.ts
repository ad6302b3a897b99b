import { openAiError, openAiStreamError } from '../openai-chat/error.ts'
import type { CompletionsDialect } from '../types.ts'
import { encodeOpenAiCompletions } from './encode.ts'
import { parseOpenAiCompletions } from './parse.ts'
import { streamOpenAiCompletions } from './stream.ts'

export const openAiCompletions: CompletionsDialect = {
  id: 'openai-completions',
  parse: parseOpenAiCompletions,
  encode: encodeOpenAiCompletions,
  stream: streamOpenAiCompletions,
  streamContentType: () => 'text/event-stream',
  error: openAiError,
  streamError: openAiStreamError,
  ping: ': PING\n\n',
}
