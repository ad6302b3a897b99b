import {
  asNumber,
  asObject,
  asObjects,
  asText,
  asTexts,
  charactersOf,
  describeBytes,
  refuse,
  type Json,
  type Prompt,
} from '../prompt.ts'
import type { Call } from '../types.ts'

const kindsOf = (block: Json): string[] => Object.keys(block)

const textOf = (blocks: Json[]): string =>
  blocks
    .map((block) => asText(block['text']))
    .filter(Boolean)
    .join('\n')

const mediaOf = (blocks: Json[]): string[] =>
  blocks.flatMap((block) => {
    const image = asObject(block['image'])
    if (image['format'])
      return [describeBytes('Image', `image/${asText(image['format'])}`, asText(asObject(image['source'])['bytes']))]
    const document = asObject(block['document'])
    if (!document['format']) return []
    return [describeBytes('File', asText(document['format']), asText(asObject(document['source'])['bytes']))]
  })

const resultText = (result: Json): string => {
  const inner = asObjects(result['content'])
  return [...mediaOf(inner), textOf(inner)].filter(Boolean).join(' ')
}

const documentsOf = (blocks: Json[]): Json[] =>
  blocks.flatMap((block) => [
    ...(block['document'] ? [asObject(block['document'])] : []),
    ...documentsOf(asObjects(asObject(block['toolResult'])['content'])),
  ])

/** "Messages can't contain duplicate document names": https://github.com/BerriAI/litellm/issues/29418 */
function checkDocumentNames(messages: Json[]): void {
  const names = messages
    .flatMap((message) => documentsOf(asObjects(message['content'])))
    .map(({ name }) => asText(name).toLowerCase())
  if (new Set(names).size < names.length)
    refuse("Messages can't contain duplicate document names. Rename the document and retry your request.")
}

/** What the vendor refuses: unknown blocks, turns that do not alternate, results without their calls and the reverse. */
function checkMessages(messages: Json[]): void {
  const known = new Set(['text', 'image', 'document', 'toolUse', 'toolResult', 'reasoningContent', 'cachePoint'])
  let asked: string[] = []
  for (const [index, message] of messages.entries()) {
    if (message['role'] !== (index % 2 === 0 ? 'user' : 'assistant'))
      refuse('A conversation must alternate between user and assistant roles. Make sure the conversation alternates.')
    const blocks = asObjects(message['content'])
    if (blocks.length === 0) refuse(`The content field in the Message object at messages.${index} is empty.`)
    if (blocks.some((block) => kindsOf(block).length !== 1 || !known.has(kindsOf(block)[0] ?? '')))
      refuse(`Malformed input request at messages.${index}: exactly one known content block member must be set.`)
    const results = blocks.flatMap((block) => asText(asObject(block['toolResult'])['toolUseId']) || [])
    if (results.toSorted().join() !== asked.toSorted().join())
      refuse(
        `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`,
      )
    asked = blocks.flatMap((block) => asText(asObject(block['toolUse'])['toolUseId']) || [])
  }
}

function checkTools({ body }: Call, messages: Json[]): void {
  const usesTools = messages.some((message) =>
    asObjects(message['content']).some((block) => block['toolUse'] ?? block['toolResult']),
  )
  if (usesTools && !body['toolConfig'])
    refuse('The toolConfig field must be defined when using toolUse and toolResult content blocks.')
}

function toolChoiceOf(value: unknown): Prompt['toolChoice'] {
  const choice = asObject(value)
  const name = asText(asObject(choice['tool'])['name'])
  if (name) return { mode: 'required', name }
  return { mode: choice['any'] ? 'required' : 'auto' }
}

const taken = new Set([
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'guardrailConfig',
  'additionalModelRequestFields',
  'performanceConfig',
  'requestMetadata',
])

export function readConverse(call: Call): Prompt {
  const { body, path } = call
  const strange = Object.keys(body).find((name) => !taken.has(name))
  if (strange) refuse(`Malformed input request: extraneous key [${strange}] is not permitted`)
  const messages = asObjects(body['messages'])
  checkMessages(messages)
  checkDocumentNames(messages)
  checkTools(call, messages)
  if (messages.at(-1)?.['role'] !== 'user') refuse('A conversation must end with a user message.')
  const lastBlocks = asObjects(messages.at(-1)?.['content'])
  const users = messages.filter((message) => message['role'] === 'user').map((message) => asObjects(message['content']))
  const inference = asObject(body['inferenceConfig'])
  const tools = asObject(body['toolConfig'])
  const reasoning = asObject(asObject(body['additionalModelRequestFields'])['reasoningConfig'])
  return {
    model: decodeURIComponent(/\/model\/([^/]+)\//.exec(path)?.[1] ?? ''),
    stream: path.endsWith('/converse-stream'),
    text: textOf(users.findLast((blocks) => textOf(blocks) !== '') ?? []),
    media: mediaOf(lastBlocks),
    system: textOf(asObjects(body['system'])),
    tools: asObjects(tools['tools'])
      .map((tool) => asObject(tool['toolSpec']))
      .filter((spec) => spec['name'])
      .map((spec) => ({ name: asText(spec['name']), schema: asObject(asObject(spec['inputSchema'])['json']) })),
    toolChoice: toolChoiceOf(tools['toolChoice']),
    toolResults: lastBlocks
      .filter((block) => block['toolResult'])
      .map((block) => resultText(asObject(block['toolResult']))),
    thinking: reasoning['type'] === 'enabled',
    json: undefined,
    maxTokens: asNumber(inference['maxTokens']),
    stop: asTexts(inference['stopSequences']),
    choices: 1,
    characters: charactersOf(messages) + charactersOf(body['system']) + charactersOf(body['toolConfig']),
  }
}
