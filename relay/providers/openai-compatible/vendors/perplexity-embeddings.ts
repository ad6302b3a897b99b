import type { PlainTranslation } from '../../types.ts'
import { recordOf, recordsOf, textOf, withoutAbsent } from '../../shared/json.ts'
import { textsToEmbed } from '../../shared/plain-answers.ts'
import { unplacedFields } from '../../shared/unplaced-fields.ts'
import { bearer } from '../address.ts'

const toNumbers = (packed: string): number[] => [...new Int8Array(Buffer.from(packed, 'base64'))]

/** Vectors come as small whole numbers, packed; callers read them as numbers. */
export const perplexityEmbeddings: Partial<PlainTranslation> = {
  mostInputs: 512,
  request: (asked, call) => ({
    method: 'POST',
    url: `${call.channel.baseUrl.replace(/\/v1$/, '')}/v1/embeddings`,
    headers: { 'content-type': 'application/json', ...bearer(call.channel.key) },
    body: withoutAbsent({
      model: call.model,
      input: textsToEmbed(asked),
      dimensions: asked.json['dimensions'],
      encoding_format: 'base64_int8',
    }),
    losses: unplacedFields(asked.json, ['model', 'input', 'dimensions', 'encoding_format']),
  }),
  response: (json) => {
    const answer = recordOf(json) ?? {}
    const data = recordsOf(answer['data']).map((row) => {
      const packed = textOf(row['embedding'])
      return packed === undefined ? row : { ...row, embedding: toNumbers(packed) }
    })
    return { ...answer, data }
  },
}
