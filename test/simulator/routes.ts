import { converse, conversePattern } from './aws/converse.ts'
import { invokeModel, invokePattern } from './aws/invoke.ts'
import { bedrock } from './aws/vendor.ts'
import { batchesPattern, messageBatches } from './anthropic/batches.ts'
import { messages, countTokens as countMessageTokens } from './anthropic/messages.ts'
import { models as anthropicModels } from './anthropic/models.ts'
import { anthropic } from './anthropic/vendor.ts'
import { deployed, deploymentPattern, undatedPattern } from './azure/operations.ts'
import { azure } from './azure/vendor.ts'
import { chat as baiduChat } from './baidu/chat.ts'
import { baidu, baiduLogin, baiduToken } from './baidu/vendor.ts'
import { chat as cohereChat } from './cohere/chat.ts'
import { embedTexts } from './cohere/embed.ts'
import { cohere } from './cohere/vendor.ts'
import { chat as cozeChat, upload } from './coze/chat.ts'
import { coze } from './coze/vendor.ts'
import { dashscope, drawAtOnce, drawPattern } from './dashscope/draw.ts'
import { chatMessages, dify, workflowRun } from './dify/chat.ts'
import { batchEmbedContents, embedContent } from './gemini/embed.ts'
import { predictImages } from './gemini/predict.ts'
import { countTokens, generateContent } from './gemini/generate.ts'
import { models as geminiModels } from './gemini/models.ts'
import { gemini } from './gemini/vendor.ts'
import { chat as ollamaChat, embeddings as ollamaEmbeddings, tags } from './ollama/chat.ts'
import { ollama } from './ollama/vendor.ts'
import { drawing, drawingSeed, listDrawings, submitDrawing } from './tasks/drawing.ts'
import { fetchMusic, music, submitMusic } from './tasks/music.ts'
import { billing, models as openaiModels } from './openai/account.ts'
import { chatCompletions } from './openai/chat.ts'
import { completions } from './openai/completions.ts'
import { embeddings, multimodalEmbedding } from './openai/embeddings.ts'
import { images, moderations, rerank, speech, transcription } from './openai/media.ts'
import { compactResponse, countInputTokens, responses, storedResponse } from './openai/responses.ts'
import { openai } from './openai/vendor.ts'
import { createPattern, createPrediction, lookAtPrediction, lookPattern } from './replicate/predictions.ts'
import { replicate } from './replicate/vendor.ts'
import { chat as tencentChat } from './tencent/chat.ts'
import { tencent } from './tencent/vendor.ts'
import type { Call, Operation, Vendor } from './types.ts'
import { googleLogin, tokenExchange } from './vertex/account.ts'
import { embedPattern, vertexEmbeddings } from './vertex/embed.ts'
import { generate, generatePattern, predict, predictPattern } from './vertex/operations.ts'
import { vertex } from './vertex/vendor.ts'

export type Route = { vendor: Vendor; operation: Operation }

const geminiVerbs: Record<string, Operation> = {
  generateContent,
  streamGenerateContent: generateContent,
  countTokens,
  embedContent,
  batchEmbedContents,
  predict: predictImages,
}

/** Paths are recognised by their end, because vendors that speak these dialects put them below all kinds of prefixes. */
const posts: [ending: string, route: Route][] = [
  ['/chat/completions', { vendor: openai, operation: chatCompletions }],
  ['/completions', { vendor: openai, operation: completions }],
  ['/embeddings', { vendor: openai, operation: embeddings }],
  ['/embeddings/multimodal', { vendor: openai, operation: multimodalEmbedding }],
  ['/responses/input_tokens', { vendor: openai, operation: countInputTokens }],
  ['/responses/compact', { vendor: openai, operation: compactResponse }],
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

/** Vendors with paths of their own, which are theirs whatever they end in. */
const ownPosts: [path: RegExp, route: Route][] = [
  [invokePattern, { vendor: bedrock, operation: invokeModel }],
  [conversePattern, { vendor: bedrock, operation: converse }],
  [/^\/api\/chat$/, { vendor: ollama, operation: ollamaChat }],
  [/^\/api\/embed$/, { vendor: ollama, operation: ollamaEmbeddings }],
  [/^\/v3\/chat$/, { vendor: coze, operation: cozeChat }],
  [/^\/v1\/files\/upload$/, { vendor: coze, operation: upload }],
  [drawPattern, { vendor: dashscope, operation: drawAtOnce }],
  [createPattern, { vendor: replicate, operation: createPrediction }],
  [generatePattern, { vendor: vertex, operation: generate }],
  [predictPattern, { vendor: vertex, operation: predict }],
  [/^\/token$/, { vendor: googleLogin, operation: tokenExchange }],
  [embedPattern, { vendor: vertex, operation: vertexEmbeddings }],
  [/^\/v2\/embed$/, { vendor: cohere, operation: embedTexts }],
  [/^\/v2\/chat$/, { vendor: cohere, operation: cohereChat }],
  [/^\/$/, { vendor: tencent, operation: tencentChat }],
  [/^\/v1\/chat-messages$/, { vendor: dify, operation: chatMessages }],
  [/^\/v1\/workflows\/run$/, { vendor: dify, operation: workflowRun }],
  [/^\/oauth\/2\.0\/token$/, { vendor: baiduLogin, operation: baiduToken }],
  [/^\/rpc\/2\.0\/ai_custom\/v1\/wenxinworkshop\/chat\/[a-z0-9_.-]+$/, { vendor: baidu, operation: baiduChat }],
]

/** OpenAI's operations in their Azure form. */
function azureRoute(path: string): Route | undefined {
  const name = deploymentPattern.exec(path)?.[2] ?? undatedPattern.exec(path)?.[1]
  const route = posts.find(([ending]) => ending === `/${name}`)?.[1]
  return route && { vendor: azure, operation: deployed(route.operation, route.operation === chatCompletions) }
}

function modelsRoute({ path, headers }: Pick<Call, 'path' | 'headers'>): Route {
  if (headers['anthropic-version'] !== undefined) return { vendor: anthropic, operation: anthropicModels }
  const isGemini = headers['x-goog-api-key'] !== undefined || path.startsWith('/v1beta/models')
  return isGemini ? { vendor: gemini, operation: geminiModels } : { vendor: openai, operation: openaiModels }
}

function taskRoute({ method, path }: Pick<Call, 'method' | 'path'>): Route | undefined {
  if (method === 'GET') return path.endsWith('/image-seed') ? { vendor: drawing, operation: drawingSeed } : undefined
  if (/\/mj\/(submit|insight-face)\/[\w-]+$/.test(path)) return { vendor: drawing, operation: submitDrawing }
  if (path.endsWith('/mj/task/list-by-condition')) return { vendor: drawing, operation: listDrawings }
  if (/\/suno\/submit\/\w+$/.test(path)) return { vendor: music, operation: submitMusic }
  return path.endsWith('/suno/fetch') ? { vendor: music, operation: fetchMusic } : undefined
}

export function routeOf(call: Pick<Call, 'method' | 'path' | 'headers'>): Route | undefined {
  const { method, path } = call
  if (path.startsWith('/openai/') && method === 'POST') return azureRoute(path)
  const own = method === 'POST' ? ownPosts.find(([pattern]) => pattern.test(path)) : undefined
  if (own) return own[1]
  const job = taskRoute(call)
  if (job) return job
  const verb = /\/models\/[^/]+:(\w+)$/.exec(path)?.[1]
  if (verb !== undefined) {
    const operation = method === 'POST' ? geminiVerbs[verb] : undefined
    return operation && { vendor: gemini, operation }
  }
  if (batchesPattern.test(path)) return { vendor: anthropic, operation: messageBatches }
  const isPosted = method === 'POST' && !path.endsWith('/cancel')
  if (!isPosted && /\/responses\/[^/]+/.test(path))
    return { vendor: path.startsWith('/openai/') ? azure : openai, operation: storedResponse }
  if (method === 'POST') return posts.find(([ending]) => path.endsWith(ending))?.[1]
  if (lookPattern.test(path)) return { vendor: replicate, operation: lookAtPrediction }
  if (path === '/api/tags') return { vendor: ollama, operation: tags }
  if (path.includes('/dashboard/billing/')) return { vendor: openai, operation: billing }
  return /\/models(\/.+)?$/.test(path) ? modelsRoute(call) : undefined
}
