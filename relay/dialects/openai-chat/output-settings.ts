import { type Fields, isObject } from '#relay/chat/json.ts'
import { googleFields } from '#relay/chat/google-fields.ts'
import type { ReasoningInput, ResponseFormat } from '#relay/chat/request.ts'
import { pick, pickObject } from '../gemini/fields.ts'
import { type Reader, defined, isEffort, isVendorEffort } from '../read.ts'

/** `response_format` of chat completions, and `text.format` of Responses, which has the schema's fields beside the type. */
export function readResponseFormat(value: unknown, read: Reader, path = 'response_format'): ResponseFormat | undefined {
  const format = read.object(value, path)
  const schema = (): Fields | undefined =>
    path === 'response_format' ? read.object(format?.['json_schema'], 'response_format.json_schema') : format
  switch (format?.['type']) {
    case undefined:
      return undefined
    case 'text':
      return { type: 'text' }
    case 'json_object':
      return { type: 'json' }
    case 'json_schema':
      return readSchemaFormat(schema() ?? {}, read)
    default:
      throw read.invalid(`${path}.type`)
  }
}

/** Name, schema and strictness, as both OpenAI dialects write them. */
function readSchemaFormat(given: Fields, read: Reader): ResponseFormat {
  return defined({
    type: 'json-schema',
    name: read.text(given['name'], 'response_format.name') || 'output',
    schema: read.object(given['schema'], 'response_format.schema') ?? {},
    strict: read.flag(given['strict'], 'response_format.strict'),
    description: read.text(given['description'], 'response_format.description'),
  })
}

/**
 * What the caller wants of the model's thinking: `reasoning_effort`, or one of the extensions by which callers of chat
 * completions reach other vendors' switches (`thinking`, `reasoning`, `enable_thinking` with `thinking_budget`,
 * Google's `extra_body`).
 */
export function readReasoningInput(body: Fields, read: Reader): ReasoningInput | undefined {
  const effort = read.text(body['reasoning_effort'], 'reasoning_effort')
  if (effort !== undefined && !isEffort(effort) && !isVendorEffort(effort)) throw read.invalid('reasoning_effort')
  const input = defined({ ...vendorInput(body), ...(isEffort(effort) ? { effort } : {}) })
  return Object.keys(input).length === 0 ? undefined : input
}

const budget = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined

function vendorInput(body: Fields): ReasoningInput {
  const { thinking, reasoning, output_config: output } = body
  const effort = isObject(output) && isEffort(output['effort']) ? output['effort'] : undefined
  if (isObject(thinking)) {
    const type = thinking['type']
    const mode = type === 'enabled' || type === 'adaptive' || type === 'disabled' ? type : undefined
    return { mode, budgetTokens: budget(thinking['budget_tokens']), effort }
  }
  if (isObject(reasoning)) {
    const { enabled, exclude, max_tokens: most, effort: requested } = reasoning
    return {
      mode: enabled === true ? 'enabled' : enabled === false ? 'disabled' : undefined,
      budgetTokens: budget(most),
      effort: isEffort(requested) ? requested : effort,
      includeThoughts: typeof exclude === 'boolean' ? !exclude : undefined,
    }
  }
  if (typeof body['enable_thinking'] === 'boolean') {
    const mode = body['enable_thinking'] ? 'enabled' : 'disabled'
    return { mode, budgetTokens: budget(body['thinking_budget']), effort }
  }
  return { effort, ...googleInput(body) }
}

function googleInput(body: Fields): ReasoningInput {
  const thinking = pickObject(googleFields(body), 'thinkingConfig')
  if (thinking === undefined) return {}
  const given = pick(thinking, 'thinkingBudget')
  const budgetTokens = given === -1 ? given : budget(given)
  const word = pick(thinking, 'thinkingLevel')
  const level = typeof word === 'string' ? word.toLowerCase() : undefined
  const shows = pick(thinking, 'includeThoughts')
  return defined({
    mode: budgetTokens === 0 ? 'disabled' : budgetTokens === undefined ? undefined : 'enabled',
    effort: isEffort(level) ? level : budgetTokens === 0 ? 'none' : undefined,
    budgetTokens,
    includeThoughts: typeof shows === 'boolean' ? shows : undefined,
  })
}
