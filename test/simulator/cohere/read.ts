import { checkFields } from '../fields.ts'
import { readMessages } from '../openai/read-messages.ts'
import {
  asNumber,
  asObject,
  asObjects,
  asText,
  asTexts,
  charactersOf,
  refuse,
  type Json,
  type Prompt,
} from '../prompt.ts'
import type { Call } from '../types.ts'

const known = [
  'model',
  'messages',
  'tools',
  'strict_tools',
  'tool_choice',
  'documents',
  'citation_options',
  'response_format',
  'safety_mode',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'k',
  'p',
  'logprobs',
  'thinking',
  'stream',
]

const ofRole: Record<string, string[]> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'tool_plan', 'citations'],
  tool: ['role', 'content', 'tool_call_id'],
}

function checkMessage(message: Json, index: number): void {
  const place = `messages[${index}].`
  const fields = ofRole[asText(message['role'])]
  if (!fields) return refuse(`invalid role at ${place}role`)
  checkFields(message, fields, place)
  const isCall = asObjects(message['tool_calls']).length > 0
  if (!isCall && (message['content'] === undefined || message['content'] === null))
    refuse(`${place}content: field required`)
  for (const part of asObjects(message['content']))
    if (!['text', 'image_url', 'thinking', 'document'].includes(asText(part['type'])))
      refuse(`${place}content: unknown type ${asText(part['type'])}`)
}

function formatOf(format: Json): Json | undefined {
  if (format['type'] === undefined || format['type'] === 'text') return undefined
  checkFields(format, ['type', 'json_schema'], 'response_format.')
  if (format['type'] !== 'json_object') refuse('response_format.type: must be one of text, json_object')
  return asObject(format['json_schema'])
}

function toolChoiceOf(value: unknown): Prompt['toolChoice'] {
  if (value === undefined) return { mode: 'auto' }
  if (value !== 'REQUIRED' && value !== 'NONE') refuse('tool_choice: must be one of REQUIRED, NONE')
  return { mode: value === 'NONE' ? 'none' : 'required' }
}

export function readChat({ body }: Call): Prompt {
  checkFields(body, known)
  if (!body['model']) refuse('model: field required')
  asObjects(body['messages']).forEach(checkMessage)
  const p = asNumber(body['p'])
  if (p !== undefined && (p < 0.01 || p > 0.99)) refuse('p: must be between 0.01 and 0.99')
  return {
    model: asText(body['model']),
    stream: body['stream'] === true,
    ...readMessages(body['messages']),
    tools: asObjects(body['tools']).map((tool) => {
      checkFields(tool, ['type', 'function'], 'tools.')
      const definition = asObject(tool['function'])
      checkFields(definition, ['name', 'description', 'parameters'], 'tools.function.')
      return { name: asText(definition['name']), schema: asObject(definition['parameters']) }
    }),
    toolChoice: toolChoiceOf(body['tool_choice']),
    thinking: asObject(body['thinking'])['type'] === 'enabled',
    json: formatOf(asObject(body['response_format'])),
    maxTokens: asNumber(body['max_tokens']),
    stop: asTexts(body['stop_sequences']),
    choices: 1,
    characters: charactersOf(body['messages']) + charactersOf(body['tools']),
  }
}
