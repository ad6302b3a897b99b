import { countTokens } from '../answer.ts'
import { embed } from '../embedding.ts'
import { checkFields } from '../fields.ts'
import { asNumber, asObject, asObjects, asText, refuse } from '../prompt.ts'
import { json, type PlainOperation } from '../types.ts'

export const embedPattern = /^\/v1\/projects\/[^/]+\/locations\/[a-z0-9-]+\/publishers\/google\/models\/[^/:]+:predict$/

/** Texts are instances of a prediction; each result reports its own tokens. */
export const predictEmbeddings: PlainOperation = {
  type: 'plain',
  reply: ({ body }) => {
    checkFields(body, ['instances', 'parameters'])
    const instances = asObjects(body['instances'])
    if (instances.length === 0) refuse('Invalid value of instances.')
    const dimensions = asNumber(asObject(body['parameters'])['outputDimensionality']) ?? 8
    const predictions = instances.map((instance) => {
      checkFields(instance, ['content', 'task_type', 'title'], 'instances.')
      const text = asText(instance['content'])
      const statistics = { token_count: countTokens(text.length), truncated: false }
      return { embeddings: { values: embed(text, dimensions), statistics } }
    })
    return json({ predictions })
  },
}
