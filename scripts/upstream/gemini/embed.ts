import { embed } from '../embedding.ts'
import { asNumber, asObject, asObjects, asText, refuse, type Json } from '../prompt.ts'
import { json, type PlainOperation } from '../types.ts'

function vectorOf(request: Json): { values: number[] } {
  const parts = asObjects(asObject(request['content'])['parts'])
  if (parts.length === 0) refuse('* EmbedContentRequest.content: contents is not specified\n')
  const text = parts.map((part) => asText(part['text'])).join('\n')
  return { values: embed(text, asNumber(request['outputDimensionality']) ?? 8) }
}

export const embedContent: PlainOperation = {
  type: 'plain',
  reply: ({ body }) => json({ embedding: vectorOf(body) }),
}

export const batchEmbedContents: PlainOperation = {
  type: 'plain',
  reply: ({ body }) => json({ embeddings: asObjects(body['requests']).map(vectorOf) }),
}
