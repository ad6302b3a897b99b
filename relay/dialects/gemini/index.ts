import type { ChatDialect } from '../types.ts'
import { cutGemini } from './cut.ts'
import { encodeGemini } from './encode.ts'
import { geminiError, geminiStreamError } from './error.ts'
import { parseGemini } from './parse.ts'
import { streamGemini } from './stream.ts'

export const gemini: ChatDialect = {
  id: 'gemini',
  parse: parseGemini,
  encode: encodeGemini,
  stream: streamGemini,
  streamContentType: ({ asJsonArray }) => (asJsonArray === true ? 'application/json' : 'text/event-stream'),
  error: geminiError,
  streamError: geminiStreamError,
  cutter: cutGemini,
  ping: ': PING\n\n',
}
