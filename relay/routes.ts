import type { ChatDialect } from './dialects/types.ts'
import { claude } from './dialects/claude/index.ts'
import { gemini } from './dialects/gemini/index.ts'
import { openAiChat } from './dialects/openai-chat/index.ts'

export type ChatPath = {
  path: string
  dialect: ChatDialect
  /** What the path itself says of the call. */
  read?: (params: Record<string, string>, query: Record<string, unknown>) => ReadPath
}
export type ReadPath = { model?: string; stream?: boolean; asJsonArray?: boolean }

/** `{model}:{action}` as Google's clients write it; null for an action that is no chat. */
const geminiPath = (params: Record<string, string>, query: Record<string, unknown>): ReadPath => {
  const stream = params['action'] === 'streamGenerateContent'
  return { model: params['model'] ?? '', stream, asJsonArray: stream && query['alt'] !== 'sse' }
}

/** Path → dialect and operation. `/hf` in front of `/v1` is an alias. */
export const chatPaths: ChatPath[] = [
  { path: '/v1/chat/completions', dialect: openAiChat },
  { path: '/v1/messages', dialect: claude },
  ...['/v1beta/models', '/v1/models'].flatMap((base) =>
    ['generateContent', 'streamGenerateContent'].map((action) => ({
      path: `${base}/:model\\:${action}`,
      dialect: gemini,
      read: (params: Record<string, string>, query: Record<string, unknown>) =>
        geminiPath({ ...params, action }, query),
    })),
  ),
]
