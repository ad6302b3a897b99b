import { embed } from '../embedding.ts'
import { asNumber, asObject, asObjects, asText, refuse, type Json } from '../prompt.ts'
import { json, type Call, type PlainOperation } from '../types.ts'

const modelIn = ({ path }: Call): string => `models/${/\/models\/([^/]+):/.exec(path)?.[1] ?? ''}`

/** A request may name the model once more, but no other one. */
function vectorOf(request: Json, call: Call, isNamed: boolean): { values: number[] } {
  const model = modelIn(call)
  const named = request['model']
  if (named === undefined ? isNamed : named !== model)
    refuse(`* BatchEmbedContentsRequest.requests[0].model: the model must be the same as in the URL: ${model}\n`)
  const parts = asObjects(asObject(request['content'])['parts'])
  if (parts.length === 0) refuse('* EmbedContentRequest.content: contents is not specified\n')
  const text = parts.map((part) => asText(part['text'])).join('\n')
  return { values: embed(text, asNumber(request['outputDimensionality']) ?? 8) }
}

/** Newer models tell what they read, and how much of it was sound: https://ai.google.dev/api/embeddings#EmbeddingUsageMetadata. */
function usageOf({ directives }: Call): Json {
  const tokens = directives['usage']
  if (tokens === undefined) return {}
  const [prompt = 0, audio = 0] = tokens.split(':').map(Number)
  const promptTokenDetails = [
    { modality: 'TEXT', tokenCount: prompt - audio },
    ...(audio > 0 ? [{ modality: 'AUDIO', tokenCount: audio }] : []),
  ]
  return { usageMetadata: { promptTokenCount: prompt, promptTokenDetails } }
}

export const embedContent: PlainOperation = {
  type: 'plain',
  reply: (call) => json({ embedding: vectorOf(call.body, call, false), ...usageOf(call) }),
}

export const batchEmbedContents: PlainOperation = {
  type: 'plain',
  reply: (call) => {
    const requests = asObjects(call.body['requests'])
    if (requests.length === 0) refuse('* BatchEmbedContentsRequest.requests: requests is not specified\n')
    return json({ embeddings: requests.map((request) => vectorOf(request, call, true)), ...usageOf(call) })
  },
}
