import type { PlainTranslation, ProviderCall } from '../types.ts'
import { listOf, numberOf, recordOf, recordsOf } from '../wire/json.ts'
import { geminiHeaders, operationUrl } from './request.ts'

const inputsOf = (value: unknown): string[] => (typeof value === 'string' ? [value] : listOf(value).map(String))

const requestOf = (text: string, call: ProviderCall, dimensions: unknown) => ({
  model: `models/${call.model}`,
  content: { parts: [{ text }] },
  ...(numberOf(dimensions) === undefined ? {} : { outputDimensionality: numberOf(dimensions) }),
})

/** OpenAI's embeddings call over the vendor's own: one text or many. */
export const geminiEmbeddings: PlainTranslation = {
  request: ({ json }, call) => {
    const inputs = inputsOf(json['input'])
    const one = inputs.length === 1
    return {
      method: 'POST',
      url: operationUrl(call, call.model, one ? ':embedContent' : ':batchEmbedContents'),
      headers: geminiHeaders(call),
      body: one
        ? requestOf(inputs[0] ?? '', call, json['dimensions'])
        : { requests: inputs.map((text) => requestOf(text, call, json['dimensions'])) },
    }
  },
  response: (json, asked) => {
    const answer = recordOf(json) ?? {}
    const rows = answer['embedding'] === undefined ? recordsOf(answer['embeddings']) : recordsOf([answer['embedding']])
    return {
      object: 'list',
      data: rows.map((row, index) => ({ object: 'embedding', index, embedding: listOf(row['values']) })),
      model: asked.json['model'],
    }
  },
  usage: (json) => {
    const prompt = numberOf(recordOf(recordOf(json)?.['usageMetadata'])?.['promptTokenCount'])
    return prompt === undefined ? undefined : { promptTokens: prompt }
  },
}
