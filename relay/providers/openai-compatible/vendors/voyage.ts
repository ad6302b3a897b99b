import type { PlainRequest, PlainTranslation, ProviderCall } from '../../types.ts'
import { type Json, numberOf, withoutAbsent } from '../../shared/json.ts'
import { documentTexts, refuseTokens } from '../../shared/plain-answers.ts'
import { unplacedFields } from '../../shared/unplaced-fields.ts'
import { openAiOperation } from '../plain.ts'
import type { OpenAiStyle } from '../style.ts'

/** The vendor's own address, and that at which its owner serves the same. */
const isVoyage = (baseUrl: string): boolean => /^https:\/\/(api\.voyageai\.com|ai\.mongodb\.com)(\/|$)/.test(baseUrl)

type Fields = { body: Json; losses: string[] }

/** Others are refused: https://docs.voyageai.com/reference/embeddings-api */
const takenToEmbed = ['input', 'input_type', 'truncation', 'output_dimension', 'output_dtype']

/** The length of a vector has a name of its own, and numbers are what comes where nothing is said. */
function embeddingFields(asked: PlainRequest): Fields {
  refuseTokens(asked)
  const { json } = asked
  return {
    body: {
      ...Object.fromEntries(takenToEmbed.map((name) => [name, json[name]])),
      output_dimension: json['output_dimension'] ?? json['dimensions'],
      encoding_format: json['encoding_format'] === 'base64' ? 'base64' : undefined,
    },
    losses: unplacedFields(json, [...takenToEmbed, 'model', 'dimensions', 'encoding_format']),
  }
}

const takenToRank = ['query', 'return_documents', 'truncation']

/** More than there are documents must not be asked for: https://docs.voyageai.com/reference/reranker-api */
function rankingFields(asked: PlainRequest): Fields {
  const { json } = asked
  const documents = documentTexts(asked)
  const most = numberOf(json['top_k'] ?? json['top_n'])
  return {
    body: {
      ...Object.fromEntries(takenToRank.map((name) => [name, json[name]])),
      documents,
      top_k: most === undefined ? undefined : Math.min(most, documents.length),
    },
    losses: unplacedFields(json, [...takenToRank, 'model', 'documents', 'top_k', 'top_n']),
  }
}

function inOwnWords(
  style: OpenAiStyle,
  operation: 'embeddings' | 'rerank',
  fieldsOf: (asked: PlainRequest) => Fields,
): Partial<PlainTranslation> {
  const usual = openAiOperation(style, operation).request
  const own = (asked: PlainRequest, call: ProviderCall) => {
    const { body, losses } = fieldsOf(asked)
    return { ...usual({ json: withoutAbsent(body), form: null }, call), losses }
  }
  return { request: (asked, call) => (isVoyage(call.channel.baseUrl) ? own : usual)(asked, call) }
}

/** Voyage embeds and ranks at the paths of the common form, in words of its own. */
export const voyageOperations = (style: OpenAiStyle): OpenAiStyle['plain'] => ({
  embeddings: inOwnWords(style, 'embeddings', embeddingFields),
  rerank: inOwnWords(style, 'rerank', rankingFields),
})
