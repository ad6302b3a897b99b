import { createHash } from 'node:crypto'
import {
  asNumber,
  asObject,
  asObjects,
  asText,
  charactersOf,
  refuse,
  Refusal,
  type Json,
  type Prompt,
} from '../prompt.ts'
import { checkStrictly } from '../strict/index.ts'
import type { Call } from '../types.ts'
import { formatOf, toolChoiceOf } from './chat.ts'
import { mediaOfContent, textOfContent } from './read-messages.ts'

const isResult = (item: Json) => item['type'] === 'function_call_output' || item['type'] === 'custom_tool_call_output'
const isSystem = (item: Json) => item['role'] === 'system' || item['role'] === 'developer'

const proofOf = (key: unknown) =>
  `gAAAAAsim${createHash('sha256')
    .update(`openai ${String(key)}`)
    .digest('base64url')}`

/** Hidden reasoning, which is read for the account that it was written for and nobody else. */
export const encryptedOf = ({ headers }: Pick<Call, 'headers'>, text: string): string =>
  `${proofOf(headers.authorization ?? headers['api-key'])}.${Buffer.from(text).toString('base64url')}`

/** "The encrypted content … could not be verified." https://community.openai.com/t/invalid-encrypted-content */
function checkReasoning(items: Json[], { headers }: Call): void {
  for (const item of items) {
    const data = item['encrypted_content']
    if ((item['type'] !== 'reasoning' && item['type'] !== 'compaction') || typeof data !== 'string') continue
    if (data.split('.')[0] === proofOf(headers.authorization ?? headers['api-key'])) continue
    throw new Refusal({
      status: 400,
      message: `The encrypted content for item ${asText(item['id'])} could not be verified.`,
      code: 'invalid_encrypted_content',
    })
  }
}

export const inputItems = (body: Json): Json[] =>
  typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : asObjects(body['input'])

/** Tools stand in the field of their name, and in items of the conversation. */
export const toolsOf = (body: Json): Json[] => [
  ...asObjects(body['tools']),
  ...inputItems(body).flatMap((item) => (item['type'] === 'additional_tools' ? asObjects(item['tools']) : [])),
]

export function readResponses(call: Call): Prompt {
  const { body, stored } = call
  if (!body['model']) refuse("Missing required parameter: 'model'.", 'model')
  checkStrictly('responses', call)
  const previous = asText(body['previous_response_id'])
  if (previous && !stored.has(previous))
    throw new Refusal({
      status: 400,
      message: `Previous response with id '${previous}' not found.`,
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    })
  const items = inputItems(body)
  checkReasoning(items, call)
  if (items.length === 0) refuse("Missing required parameter: 'input'.", 'input')
  const user = items.findLast((item) => item['role'] === 'user')
  const lastOther = items.findLastIndex((item) => !isResult(item))
  const system = [asText(body['instructions']), ...items.filter(isSystem).map((item) => textOfContent(item['content']))]
  const effort = asObject(body['reasoning'])['effort']
  return {
    model: asText(body['model']),
    stream: body['stream'] === true,
    text: textOfContent(user?.['content']),
    media: items.at(-1) === user ? mediaOfContent(user?.['content']) : [],
    system: system.filter(Boolean).join('\n'),
    tools: toolsOf(body)
      .flatMap((tool) => (tool['type'] === 'namespace' ? asObjects(tool['tools']) : [tool]))
      .filter((tool) => tool['type'] === 'function' || tool['type'] === 'custom')
      .map((tool) => ({ name: asText(tool['name']), schema: asObject(tool['parameters']) })),
    toolChoice: toolChoiceOf(body['tool_choice']),
    toolResults: items
      .slice(lastOther + 1)
      .map((item) => [...mediaOfContent(item['output']), textOfContent(item['output'])].filter(Boolean).join(' ')),
    thinking: effort !== undefined && effort !== null && effort !== 'none',
    json: formatOf(asObject(asObject(body['text'])['format'])),
    maxTokens: asNumber(body['max_output_tokens']),
    stop: [],
    choices: 1,
    characters: charactersOf(body['input']) + charactersOf(body['instructions']) + charactersOf(body['tools']),
  }
}
