import { bearer } from '../openai-compatible/address.ts'
import type { SupportedFields, OwnForm, PlainTranslation, ProviderCall } from '../types.ts'
import { sharedField } from '../shared/embed-fields.ts'
import { countOf, type Json, numberOf, recordOf, withoutAbsent } from '../shared/json.ts'
import {
  documentTexts,
  embeddingList,
  promptOnly,
  readSuccess,
  rerankList,
  textsToEmbed,
} from '../shared/plain-answers.ts'
import { unplacedFields } from '../shared/unplaced-fields.ts'

/** Both versions of the vendor's calls stand below one address. */
const urlOf = ({ channel }: ProviderCall, operation: string): string =>
  `${channel.baseUrl.replace(/\/v[12]$/, '')}/v2${operation}`

const headersOf = ({ channel }: ProviderCall): Record<string, string> => ({
  'content-type': 'application/json',
  ...bearer(channel.key),
})

const billedIn = (json: unknown): Json => recordOf(recordOf(readSuccess(json)['meta'])?.['billed_units']) ?? {}

const inputTypes: Readonly<Record<string, string>> = {
  RETRIEVAL_QUERY: 'search_query',
  RETRIEVAL_DOCUMENT: 'search_document',
  CLASSIFICATION: 'classification',
  CLUSTERING: 'clustering',
}

/** What the texts are for, where both vendors know it. */
function supportedOf(own: OwnForm): SupportedFields {
  const task = sharedField(own, 'taskType')
  const type = task !== undefined && Object.hasOwn(inputTypes, task) ? inputTypes[task] : undefined
  return type === undefined ? { json: {}, names: [] } : { json: { input_type: type }, names: ['taskType', 'task_type'] }
}

export const cohereEmbeddings: PlainTranslation = {
  mostInputs: 96,
  supports: { gemini: supportedOf },
  request: (asked, call) => ({
    method: 'POST',
    url: urlOf(call, '/embed'),
    headers: headersOf(call),
    body: withoutAbsent({
      model: call.model,
      texts: textsToEmbed(asked),
      input_type: asked.json['input_type'] ?? 'search_document',
      embedding_types: ['float'],
      output_dimension: asked.json['dimensions'],
      truncate: asked.json['truncate'],
    }),
    losses: unplacedFields(asked.json, ['model', 'input', 'input_type', 'dimensions', 'truncate', 'encoding_format']),
  }),
  response: (json, asked) => {
    const vectors = recordOf(recordOf(json)?.['embeddings'])?.['float']
    return embeddingList(Array.isArray(vectors) ? vectors : [], asked)
  },
  usage: (json) => promptOnly(countOf(billedIn(json)['input_tokens'])),
}

/** Documents come back from the call itself. */
const taken = ['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc', 'return_documents']

/** Ranked by searches, not by tokens; where no tokens are reported they are counted from the request. */
export const cohereRerank: PlainTranslation = {
  request: (asked, call) => ({
    method: 'POST',
    url: urlOf(call, '/rerank'),
    headers: headersOf(call),
    body: withoutAbsent({
      model: call.model,
      query: asked.json['query'],
      documents: documentTexts(asked),
      // Without a number the caller wants them all.
      top_n: numberOf(asked.json['top_n']) ?? documentTexts(asked).length,
      max_tokens_per_doc: asked.json['max_tokens_per_doc'],
    }),
    losses: unplacedFields(asked.json, taken),
  }),
  response: (json, asked) => {
    const answer = recordOf(json) ?? {}
    return withoutAbsent({ id: answer['id'], results: rerankList(answer['results'], asked), meta: answer['meta'] })
  },
  usage: (json) => {
    const tokens = recordOf(recordOf(readSuccess(json)['meta'])?.['tokens'])
    return promptOnly(countOf(tokens?.['input_tokens']) ?? countOf(billedIn(json)['input_tokens']))
  },
}
