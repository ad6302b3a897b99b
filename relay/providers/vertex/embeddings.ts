import { failureIn } from '../gemini/failure.ts'
import {
  type SupportedFields,
  type OwnForm,
  type PlainTranslation,
  type ProviderCall,
  UpstreamRefusal,
} from '../types.ts'
import { countOf, type Json, recordOf, recordsOf, sumOf, withoutAbsent } from '../shared/json.ts'
import { sharedField } from '../shared/embed-fields.ts'
import { embeddingList, promptOnly, textsToEmbed } from '../shared/plain-answers.ts'
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

/** Texts are embedded by a prediction here; each reports its own tokens. */
export const vertexEmbeddings = (headers: (call: ProviderCall) => Record<string, string>): PlainTranslation => ({
  mostInputs: 250,
  supports: { gemini: supportedOf },
  request: (asked, call) => ({
    method: 'POST',
    url: googleUrl(call, call.model, ':predict'),
    headers: headers(call),
    body: {
      instances: textsToEmbed(asked).map((content) =>
        withoutAbsent({ content, task_type: asked.json['task_type'], title: asked.json['title'] }),
      ),
      parameters: withoutAbsent({ autoTruncate: true, outputDimensionality: asked.json['dimensions'] }),
    },
  }),
  response: (json, asked) =>
    embeddingList(
      vectorsOf(json).map((vector) => vector['values']),
      asked,
    ),
  usage: (json) => {
    const failure = failureIn(recordOf(json) ?? {})
    if (failure) throw new UpstreamRefusal(failure)
    return promptOnly(
      sumOf(...vectorsOf(json).map((vector) => countOf(recordOf(vector['statistics'])?.['token_count']))),
    )
  },
})
