import type { CallerDialect } from './dialects/types.ts'
import { claude } from './dialects/claude/index.ts'
import { type EmbedAction, embedActions } from './dialects/gemini/embed.ts'
import { gemini } from './dialects/gemini/index.ts'
import { geminiInteractions } from './dialects/gemini-interactions/index.ts'
import { openAiChat } from './dialects/openai-chat/index.ts'
import { openAiCompaction } from './dialects/openai-compaction/index.ts'
import { openAiCompletions } from './dialects/openai-completions/index.ts'
import { openAiEdits } from './dialects/openai-edits/index.ts'
import type { PlainOperation } from './providers/types.ts'
import { openAiResponses } from './dialects/openai-responses/index.ts'

export const relayBases = ['/v1', '/v1beta', '/v2', '/upload/v1beta', '/hf']

export type ChatPath = {
  path: string
  dialect: CallerDialect
  /** What the path itself says of the call. */
  read?: (params: Record<string, string>, query: Record<string, unknown>) => ReadPath
}
type ReadPath = { model?: string; stream?: boolean; asJsonArray?: boolean }

/** `{model}:{action}` as Google's clients write it; null for an action that is no chat. */
const geminiPath = (params: Record<string, string>, query: Record<string, unknown>): ReadPath => {
  const stream = params['action'] === 'streamGenerateContent'
  return { model: params['model'] ?? '', stream, asJsonArray: stream && query['alt'] !== 'sse' }
}

export const interactionBases = ['/v1beta/interactions', '/v1/interactions']

/** Path → dialect and operation. `/hf` in front of `/v1` is an alias. */
export const chatPaths: ChatPath[] = [
  { path: '/v1/chat/completions', dialect: openAiChat },
  { path: '/v1/completions', dialect: openAiCompletions },
  { path: '/v1/edits', dialect: openAiEdits },
  { path: '/v1/responses', dialect: openAiResponses },
  { path: '/v1/responses/compact', dialect: openAiCompaction },
  { path: '/v1/messages', dialect: claude },
  // The library asks at the one, what is published says the other.
  ...interactionBases.map((path) => ({ path, dialect: geminiInteractions })),
  ...['/v1beta/models', '/v1/models'].flatMap((base) =>
    ['generateContent', 'streamGenerateContent'].map((action) => ({
      // A wildcard, for names have slashes and colons of their own.
      path: `${base}/*model\\:${action}`,
      dialect: gemini,
      read: (params: Record<string, string>, query: Record<string, unknown>) =>
        geminiPath({ ...params, action }, query),
    })),
  ),
]

/** Whose form errors have where no operation says so. */
export const dialectOfPath = (path: string): CallerDialect =>
  /^(\/hf)?((\/upload)?\/v1beta\/(?!openai\/)|\/v1\/interactions\/)/.test(path) ? gemini : openAiChat

type PlainPath = {
  path: string
  operation: PlainOperation
  /** The caller speaks Google's form, and this is what its path calls the operation. */
  action?: EmbedAction | 'predict'
}

/** Path → operation that is no chat. */
export const plainPaths: PlainPath[] = [
  { path: '/v1/embeddings', operation: 'embeddings' },
  { path: '/v1/engines/:model/embeddings', operation: 'embeddings' },
  { path: '/v1/moderations', operation: 'moderations' },
  { path: '/v1/images/generations', operation: 'images' },
  { path: '/v1/images/edits', operation: 'image-edits' },
  { path: '/v1/audio/speech', operation: 'speech' },
  { path: '/v1/audio/transcriptions', operation: 'transcriptions' },
  { path: '/v1/audio/translations', operation: 'translations' },
  { path: '/v1/rerank', operation: 'rerank' },
  { path: '/rerank', operation: 'rerank' },
  { path: '/v2/rerank', operation: 'rerank' },
  ...['/v1beta/models', '/v1/models'].flatMap((base) =>
    embedActions.map((action): PlainPath => ({
      path: `${base}/*model\\:${action}`,
      operation: 'embeddings',
      action,
    })),
  ),
  ...['/v1beta/models', '/v1/models'].map((base): PlainPath => ({
    path: `${base}/*model\\:predict`,
    operation: 'images',
    action: 'predict',
  })),
]

type Unbuilt = { method: 'get' | 'post' | 'delete' | 'all'; path: string }

/** Documented paths whose documented answer is that they do not exist. */
export const unimplementedPaths: Unbuilt[] = [
  { method: 'post', path: '/v1/images/variations' },
  { method: 'all', path: '/v1/files' },
  { method: 'all', path: '/v1/files/*rest' },
  { method: 'all', path: '/v1/fine-tunes' },
  { method: 'all', path: '/v1/fine-tunes/*rest' },
  { method: 'all', path: '/v1/fine_tuning/*rest' },
  { method: 'delete', path: '/v1/models/*rest' },
  // Nothing runs on after its call, so that there is nothing to cancel.
  ...interactionBases.map((base): Unbuilt => ({ method: 'post', path: `${base}/:id/cancel` })),
  ...['/v1beta/files', '/v1beta/cachedContents', '/upload/v1beta/files'].flatMap((path): Unbuilt[] => [
    { method: 'all', path },
    { method: 'all', path: `${path}/*rest` },
  ]),
]
