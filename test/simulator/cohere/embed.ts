import { countTokens } from '../answer.ts'
import { embed } from '../embedding.ts'
import { checkFields } from '../fields.ts'
import { asNumber, asText, asTexts, refuse } from '../prompt.ts'
import { json, type PlainOperation } from '../types.ts'

const known = ['model', 'texts', 'input_type', 'embedding_types', 'output_dimension', 'truncate']
const inputTypes = ['search_document', 'search_query', 'classification', 'clustering']

export const embedTexts: PlainOperation = {
  type: 'plain',
  reply: ({ body, nextId }) => {
    checkFields(body, known)
    const texts = asTexts(body['texts'])
    if (texts.length === 0 || texts.length > 96) refuse('texts: must have between 1 and 96 entries')
    if (!inputTypes.includes(asText(body['input_type']))) refuse('input_type: must be one of the known ones')
    const dimensions = asNumber(body['output_dimension']) ?? 8
    return json({
      id: nextId('co-'),
      embeddings: { float: texts.map((text) => embed(text, dimensions)) },
      texts,
      meta: { billed_units: { input_tokens: countTokens(texts.join('').length) } },
    })
  },
}
