import {
  type OwnForm,
  type PlainTranslation,
  type ProviderCall,
  type UpstreamRequest,
  UpstreamRefusal,
} from '../types.ts'
import { type Json, listOf, numberOf, recordOf, recordsOf } from '../shared/json.ts'
import { embeddingList, textsToEmbed } from '../shared/plain-answers.ts'
import { unplacedFields } from '../shared/unplaced-fields.ts'
import { failureIn } from './failure.ts'
import { geminiHeaders, operationUrl } from './request.ts'
import { readEmbedUsage } from './usage.ts'

const requestOf = (text: string, call: ProviderCall, dimensions: unknown) => ({
  model: `models/${call.model}`,
  content: { parts: [{ text }] },
  ...(numberOf(dimensions) === undefined ? {} : { outputDimensionality: numberOf(dimensions) }),
})

/** The vendor's own call, with the model's name as it is called here. */
function ownRequest({ action, json }: OwnForm, call: ProviderCall): UpstreamRequest {
  const model = `models/${call.model}`
  const requests = Array.isArray(json['requests'])
    ? recordsOf(json['requests']).map((request): Json => ({ ...request, model }))
    : undefined
  return {
    method: 'POST',
    url: operationUrl(call, call.model, `:${action}`),
    headers: geminiHeaders(call),
    body: requests ? { ...json, requests } : { ...json, model },
  }
}

/** OpenAI's embeddings call over the vendor's own: one text or many. */
export const geminiEmbeddings: PlainTranslation = {
  mostInputs: 100,
  request: (asked, call) => {
    const { json } = asked
    const inputs = textsToEmbed(asked)
    const one = inputs.length === 1
    return {
      method: 'POST',
      url: operationUrl(call, call.model, one ? ':embedContent' : ':batchEmbedContents'),
      headers: geminiHeaders(call),
      body: one
        ? requestOf(inputs[0] ?? '', call, json['dimensions'])
        : { requests: inputs.map((text) => requestOf(text, call, json['dimensions'])) },
      losses: unplacedFields(json, ['model', 'input', 'dimensions', 'encoding_format']),
    }
  },
  native: { gemini: ownRequest },
  response: (json, asked) => {
    const answer = recordOf(json) ?? {}
    const rows = answer['embedding'] === undefined ? recordsOf(answer['embeddings']) : recordsOf([answer['embedding']])
    return embeddingList(
      rows.map((row) => listOf(row['values'])),
      asked,
    )
  },
  usage: (json) => {
    const failure = failureIn(recordOf(json) ?? {})
    if (failure) throw new UpstreamRefusal(failure)
    return readEmbedUsage(recordOf(recordOf(json)?.['usageMetadata']) ?? {})
  },
}
