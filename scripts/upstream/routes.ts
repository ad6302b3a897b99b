import { messages, countTokens as countMessageTokens } from './anthropic/messages.ts'
import { models as anthropicModels } from './anthropic/models.ts'
import { anthropic } from './anthropic/vendor.ts'
import { batchEmbedContents, embedContent } from './gemini/embed.ts'
import { countTokens, generateContent } from './gemini/generate.ts'
import { models as geminiModels } from './gemini/models.ts'
import { gemini } from './gemini/vendor.ts'
import { billing, models as openaiModels } from './openai/account.ts'
import { chatCompletions } from './openai/chat.ts'
import { completions } from './openai/completions.ts'
import { embeddings } from './openai/embeddings.ts'
import { images, moderations, rerank, speech, transcription } from './openai/media.ts'
import { responses, storedResponse } from './openai/responses.ts'
import { openai } from './openai/vendor.ts'
import type { Call, Operation, Vendor } from './types.ts'

export type Route = { vendor: Vendor; operation: Operation }

const geminiVerbs: Record<string, Operation> = {
  generateContent,
  streamGenerateContent: generateContent,
  countTokens,
  embedContent,
  batchEmbedContents,
}

/** Paths are told by their end, because vendors that speak these dialects put them below all kinds of prefixes. */
const posts: [ending: string, route: Route][] = [
  ['/chat/completions', { vendor: openai, operation: chatCompletions }],
  ['/completions', { vendor: openai, operation: completions }],
  ['/embeddings', { vendor: openai, operation: embeddings }],
  ['/responses', { vendor: openai, operation: responses }],
  ['/moderations', { vendor: openai, operation: moderations }],
  ['/images/generations', { vendor: openai, operation: images }],
  ['/images/edits', { vendor: openai, operation: images }],
  ['/audio/speech', { vendor: openai, operation: speech }],
  ['/audio/transcriptions', { vendor: openai, operation: transcription }],
  ['/audio/translations', { vendor: openai, operation: transcription }],
  ['/rerank', { vendor: openai, operation: rerank }],
  ['/messages/count_tokens', { vendor: anthropic, operation: countMessageTokens }],
  ['/messages', { vendor: anthropic, operation: messages }],
]

function modelsRoute({ path, headers }: Pick<Call, 'path' | 'headers'>): Route {
  if (headers['anthropic-version'] !== undefined) return { vendor: anthropic, operation: anthropicModels }
  const isGemini = headers['x-goog-api-key'] !== undefined || path.startsWith('/v1beta/models')
  return isGemini ? { vendor: gemini, operation: geminiModels } : { vendor: openai, operation: openaiModels }
}

export function routeOf(call: Pick<Call, 'method' | 'path' | 'headers'>): Route | undefined {
  const { method, path } = call
  const verb = /\/models\/[^/]+:(\w+)$/.exec(path)?.[1]
  if (verb !== undefined) {
    const operation = method === 'POST' ? geminiVerbs[verb] : undefined
    return operation && { vendor: gemini, operation }
  }
  if (/\/responses\/[^/]+/.test(path)) return { vendor: openai, operation: storedResponse }
  if (method === 'POST') return posts.find(([ending]) => path.endsWith(ending))?.[1]
  if (path.includes('/dashboard/billing/')) return { vendor: openai, operation: billing }
  return /\/models(\/.+)?$/.test(path) ? modelsRoute(call) : undefined
}
