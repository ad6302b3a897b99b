import { countTokens } from '../answer.ts'
import { embed } from '../embedding.ts'
import { checkFields } from '../fields.ts'
import { asNumber, asObject, asObjects, asText, refuse, Refusal, type Json } from '../prompt.ts'
import { json, type PlainOperation, type Reply } from '../types.ts'

export const embedPattern =
  /^\/v1\/projects\/[^/]+\/locations\/[a-z0-9-]+\/publishers\/google\/models\/([^/:]+):(predict|embedContent)$/

const textOf = (content: unknown): string =>
  asObjects(asObject(content)['parts'])
    .map((part) => asText(part['text']))
    .join('\n')

/** One content a call: https://github.com/googleapis/python-genai/issues/2165. */
function embedContent(body: Json): Reply {
  checkFields(body, ['content', 'taskType', 'title', 'outputDimensionality', 'autoTruncate'])
  const text = textOf(body['content'])
  if (text === '') refuse('Unable to submit request because it must have a text part.')
  return json({
    embedding: { values: embed(text, asNumber(body['outputDimensionality']) ?? 8) },
    usageMetadata: { promptTokenCount: countTokens(text.length) },
    truncated: false,
  })
}

/**
 * Texts are instances of a prediction; each result reports its own tokens. Newer models have the other call instead of it:
 * https://github.com/vercel/ai/issues/15853, https://github.com/quarkiverse/quarkus-langchain4j/issues/2376.
 */
export const vertexEmbeddings: PlainOperation = {
  type: 'plain',
  reply: ({ body, path }) => {
    const [, model = '', verb] = embedPattern.exec(path) ?? []
    const isNewer = model.startsWith('gemini-embedding-') && model !== 'gemini-embedding-001'
    if (verb === 'embedContent') {
      if (!isNewer) refuse(`Publisher Model ${model} is not supported in the embedContent API.`)
      return embedContent(body)
    }
    if (isNewer) throw new Refusal({ status: 400, message: 'Precondition check failed.', type: 'FAILED_PRECONDITION' })
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
