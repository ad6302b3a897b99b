import type { ChatDialect } from '../types.ts'
import { cutClaude } from './cut.ts'
import { encodeClaude } from './encode.ts'
import { claudeError, claudeStreamError } from './error.ts'
import { parseClaude } from './parse.ts'
import { streamClaude } from './stream.ts'

export const claude: ChatDialect = {
  id: 'claude',
  parse: parseClaude,
  encode: encodeClaude,
  stream: streamClaude,
  streamContentType: () => 'text/event-stream',
  error: claudeError,
  streamError: claudeStreamError,
  cutter: cutClaude,
  ping: 'event: ping\ndata: {"type":"ping"}\n\n',
}
