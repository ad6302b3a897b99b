import type { PlainRequest, PlainTranslation } from '../../types.ts'
import { joinPath } from '../../shared/join-path.ts'
import { listOf, recordOf } from '../../shared/json.ts'
import { embeddingList } from '../../shared/plain-answers.ts'
import { bearer } from '../address.ts'

const seesImages = (model: string): boolean => model.includes('embedding-vision')

const partsOf = (input: unknown): unknown[] =>
  (Array.isArray(input) ? listOf(input) : [input]).map((item) =>
    typeof item === 'string' ? { type: 'text', text: item } : item,
  )

const holdsTextsAlone = ({ json }: PlainRequest): boolean =>
  listOf(json['input']).every((item) => typeof item === 'string')

/**
 * Models that see images have a path of their own and make one vector of all they are given. Texts are asked for one by one, since their
 * caller expects a vector of each; parts of other kinds beside them make one.
 */
export const volcengineEmbeddings: Partial<PlainTranslation> = {
  mostInputs: ({ model }, asked) => (seesImages(model) && holdsTextsAlone(asked) ? 1 : undefined),
  request: ({ json }, call) => ({
    method: 'POST',
    url: joinPath(call.channel.baseUrl, '/api/v3', seesImages(call.model) ? '/embeddings/multimodal' : '/embeddings'),
    headers: { 'content-type': 'application/json', ...bearer(call.channel.key) },
    body: { ...json, model: call.model, input: seesImages(call.model) ? partsOf(json['input']) : json['input'] },
  }),
  response: (json, asked) => {
    const answer = recordOf(json) ?? {}
    const one = recordOf(answer['data'])
    return one ? { ...embeddingList([one['embedding']], asked), usage: answer['usage'] } : json
  },
}
