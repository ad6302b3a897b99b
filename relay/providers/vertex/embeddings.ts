import { failureIn } from '../gemini/failure.ts'
import { readEmbedUsage } from '../gemini/usage.ts'
import {
  type SupportedFields,
  type OwnForm,
  type PlainRequest,
  type PlainTranslation,
  type ProviderCall,
  UpstreamRefusal,
} from '../types.ts'
import { countOf, type Json, recordOf, recordsOf, sumOf, withoutAbsent } from '../shared/json.ts'
import { sharedField } from '../shared/embed-fields.ts'
import { embeddingList, promptOnly, textsToEmbed } from '../shared/plain-answers.ts'
import { unplacedFields } from '../shared/unplaced-fields.ts'
import { googleUrl } from './address.ts'

const vectorsOf = (json: unknown): Json[] =>
  recordsOf(recordsOf(recordOf(json)?.['predictions']).map((prediction) => prediction['embeddings']))

/** The host's other call has the same settings under other names. */
function supportedOf(own: OwnForm): SupportedFields {
  const [task, title] = [sharedField(own, 'taskType'), sharedField(own, 'title')]
  return {
    json: withoutAbsent({ task_type: task, title }),
    names: [...(task === undefined ? [] : ['taskType', 'task_type']), ...(title === undefined ? [] : ['title'])],
  }
}

/**
 * Newer models refuse predictions and embed one text a call: https://github.com/vercel/ai/issues/15853,
 * https://github.com/googleapis/python-genai/issues/2165.
 */
const embedsContent = (model: string): boolean => model.includes('gemini') && model !== 'gemini-embedding-001'

const contentBody = ({ json }: PlainRequest, text: string): Json =>
  withoutAbsent({
    content: { parts: [{ text }] },
    taskType: json['task_type'],
    title: json['title'],
    outputDimensionality: json['dimensions'],
    autoTruncate: true,
  })

const predictBody = ({ json }: PlainRequest, texts: readonly string[]): Json => ({
  instances: texts.map((content) => withoutAbsent({ content, task_type: json['task_type'], title: json['title'] })),
  parameters: withoutAbsent({ autoTruncate: true, outputDimensionality: json['dimensions'] }),
})

/** Texts are embedded by predictions here, which report their own tokens, or by the vendor's own call. */
export const vertexEmbeddings = (headers: (call: ProviderCall) => Record<string, string>): PlainTranslation => ({
  mostInputs: ({ model }) => (embedsContent(model) ? 1 : 250),
  supports: { gemini: supportedOf },
  request: (asked, call) => {
    const texts = textsToEmbed(asked)
    const isOwn = embedsContent(call.model)
    return {
      method: 'POST',
      url: googleUrl(call, call.model, isOwn ? ':embedContent' : ':predict'),
      headers: headers(call),
      body: isOwn ? contentBody(asked, texts[0] ?? '') : predictBody(asked, texts),
      losses: unplacedFields(asked.json, ['model', 'input', 'task_type', 'title', 'dimensions', 'encoding_format']),
    }
  },
  response: (json, asked) => {
    const own = recordOf(recordOf(json)?.['embedding'])
    return embeddingList(
      (own ? [own] : vectorsOf(json)).map((vector) => vector['values']),
      asked,
    )
  },
  usage: (json) => {
    const answer = recordOf(json) ?? {}
    const failure = failureIn(answer)
    if (failure) throw new UpstreamRefusal(failure)
    const own = readEmbedUsage(recordOf(answer['usageMetadata']) ?? {})
    if (own) return own
    const predicted = vectorsOf(json).map((vector) => countOf(recordOf(vector['statistics'])?.['token_count']))
    return promptOnly(sumOf(...predicted))
  },
})
