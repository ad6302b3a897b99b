import type { DialectId } from '#relay/chat/request.ts'
import { claude } from './claude/index.ts'
import { gemini } from './gemini/index.ts'
import { geminiInteractions } from './gemini-interactions/index.ts'
import { openAiChat } from './openai-chat/index.ts'
import { openAiCompaction } from './openai-compaction/index.ts'
import { openAiCompletions } from './openai-completions/index.ts'
import { openAiEdits } from './openai-edits/index.ts'
import { openAiResponses } from './openai-responses/index.ts'
import type { ChatDialect, LegacyDialect } from './types.ts'

/** Every language that callers may speak for chat. */
export const dialects = {
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  claude,
  gemini,
} satisfies Record<DialectId, ChatDialect>

const legacy = {
  'openai-completions': openAiCompletions,
  'openai-edits': openAiEdits,
  'openai-compaction': openAiCompaction,
  'gemini-interactions': geminiInteractions,
}

export type CallerDialectId = DialectId | LegacyDialect['id']

export const dialectOf = (id: CallerDialectId): ChatDialect | LegacyDialect => ({ ...dialects, ...legacy })[id]
