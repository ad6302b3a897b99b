import type { PlainTranslation } from '../../types.ts'
import { joinPath } from '../../shared/join-path.ts'
import { withoutAbsent } from '../../shared/json.ts'
import { refuseTokens } from '../../shared/plain-answers.ts'
import { unplacedFields } from '../../shared/unplaced-fields.ts'
import { bearer } from '../address.ts'

/** Others are "Extra inputs are not permitted": https://docs.mistral.ai/api/endpoint/embeddings */
const taken = ['input', 'encoding_format', 'output_dimension', 'output_dtype', 'metadata']

/** The length of a vector has a name of its own. */
export const mistralEmbeddings: Partial<PlainTranslation> = {
  request: (asked, call) => {
    refuseTokens(asked)
    const { json } = asked
    return {
      method: 'POST',
      url: joinPath(call.channel.baseUrl, '/v1', '/embeddings'),
      headers: { 'content-type': 'application/json', ...bearer(call.channel.key) },
      body: withoutAbsent({
        model: call.model,
        ...Object.fromEntries(taken.map((name) => [name, json[name]])),
        output_dimension: json['output_dimension'] ?? json['dimensions'],
      }),
      losses: unplacedFields(json, [...taken, 'model', 'dimensions']),
    }
  },
}
