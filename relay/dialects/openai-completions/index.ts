import { openAiChat } from '../openai-chat/index.ts'
import type { LegacyDialect } from '../types.ts'
import { encodeOpenAiCompletions } from './encode.ts'
import { parseOpenAiCompletions } from './parse.ts'
import { streamOpenAiCompletions } from './stream.ts'

const { replay: _replay, withUsage: _withUsage, fromOtherForm: _fromOtherForm, ...shared } = openAiChat

/** What is of chat completions in the calls from before them. */
export const legacyShared: Omit<LegacyDialect, 'id' | 'parse' | 'encode'> = {
  ...shared,
  stream: streamOpenAiCompletions,
  native: null,
  servesExtensions: false,
  withSystemPrompt: null,
  withOutputLimit: (body, limit) => ({ ...body, max_tokens: limit }),
}

export const openAiCompletions: LegacyDialect = {
  ...legacyShared,
  id: 'openai-completions',
  parse: parseOpenAiCompletions,
  encode: encodeOpenAiCompletions,
  native: 'openai-completions',
}
