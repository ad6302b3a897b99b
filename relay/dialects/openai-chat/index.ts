import type { ChatDialect } from '../types.ts'
import { cutOpenAi } from './cut.ts'
import { encodeOpenAiChat } from './encode.ts'
import { openAiError, openAiStreamError } from './error.ts'
import { parseOpenAiChat } from './parse.ts'
import { replayOpenAiChat } from './replay.ts'
import { streamOpenAiChat } from './stream.ts'

export const openAiChat: ChatDialect = {
  id: 'openai-chat',
  parse: parseOpenAiChat,
  encode: encodeOpenAiChat,
  stream: streamOpenAiChat,
  replay: replayOpenAiChat,
  streamContentType: () => 'text/event-stream',
  error: openAiError,
  streamError: openAiStreamError,
  cutter: cutOpenAi,
  ping: ': PING\n\n',
}
