import { createHash } from 'node:crypto'
import {
  asNumber,
  asObject,
  asObjects,
  asksBeside,
  asText,
  asTexts,
  charactersOf,
  describeAddress,
  describeBytes,
  refuse,
  type Json,
  type Prompt,
} from '../prompt.ts'
import { checkStrictly } from '../strict/index.ts'
import type { Call } from '../types.ts'

/** Proof that a thinking text is this vendor's own; checked when it comes back. */
export const signatureOf = (thinking: string) =>
  `sim-${createHash('sha256').update(`anthropic ${thinking}`).digest('base64')}`

const blocksOf = (content: unknown): Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : asObjects(content)

const textOf = (content: unknown): string =>
  blocksOf(content)
    .filter((block) => block['type'] === 'text')
    .map((block) => asText(block['text']))
    .join('\n')

/** What a user wrote, without what programs write beside it by themselves: they name all their tools there. */
const wordsOf = (content: unknown): string =>
  blocksOf(content)
    .flatMap((block) => (block['type'] === 'text' ? [asText(block['text'])] : []))
    .filter((text) => !text.startsWith('<system-reminder>'))
    .join('\n')

function mediaOf(blocks: Json[]): string[] {
  return blocks.flatMap((block) => {
    if (block['type'] !== 'image' && block['type'] !== 'document') return []
    const kind = block['type'] === 'image' ? 'Image' : 'File'
    const source = asObject(block['source'])
    if (source['type'] === 'base64') return [describeBytes(kind, asText(source['media_type']), asText(source['data']))]
    return [describeAddress(kind, asText(source['url'] ?? source['file_id'] ?? source['data']))]
  })
}

/** A result's text, its images in words. */
const resultText = (block: Json) => {
  const inner = blocksOf(block['content'])
  return [...mediaOf(inner), textOf(inner)].filter(Boolean).join(' ')
}

const mediaBeside = (blocks: Json[]) => (blocks.some((block) => block['type'] === 'tool_result') ? mediaOf(blocks) : [])

/** What the vendor refuses about the order of blocks and about reasoning that is not its own. */
function checkMessages(messages: Json[], looksAtProofs: boolean): void {
  let asked = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message['content'])
    const results = blocks.filter((block) => block['type'] === 'tool_result')
    for (const result of results) {
      const id = asText(result['tool_use_id'])
      if (!asked.delete(id))
        refuse(
          `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        )
    }
    if (asked.size > 0)
      refuse(
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...asked].join(', ')}.`,
      )
    asked = new Set(blocks.filter((block) => block['type'] === 'tool_use').map((block) => asText(block['id'])))
    for (const block of blocks)
      if (
        looksAtProofs &&
        block['type'] === 'thinking' &&
        block['signature'] !== signatureOf(asText(block['thinking']))
      )
        refuse(`messages.${index}.content.0: Invalid \`signature\` in \`thinking\` block`)
  }
}

function checkVersion({ body, headers }: Call): void {
  const version = headers['anthropic-version']
  if (version === undefined) refuse('anthropic-version: header is required')
  if (version !== '2026-10-21') return
  const sampling = ['temperature', 'top_p', 'top_k'].find((field) => body[field] !== undefined)
  if (sampling) refuse(`${sampling}: this field is not supported with anthropic-version 2026-10-21`)
}

function toolChoiceOf(value: unknown): Prompt['toolChoice'] {
  const choice = asObject(value)
  if (choice['type'] === 'tool') return { mode: 'required', name: asText(choice['name']) }
  return { mode: choice['type'] === 'any' ? 'required' : choice['type'] === 'none' ? 'none' : 'auto' }
}

/** Shared by messages and count_tokens, which has no `max_tokens`. */
export function readMessages(call: Call): Prompt {
  const { body } = call
  checkVersion(call)
  checkStrictly('messages', call)
  if (!body['model']) refuse('model: Field required')
  const messages = asObjects(body['messages'])
  if (messages.length === 0) refuse('messages: at least one message is required')
  // Vendors that speak this form below another path look at no proof.
  checkMessages(messages, !/\/(anthropic|coding)\//.test(call.path))
  const users = messages.filter((message) => message['role'] === 'user')
  const spoken = users.map((message) => wordsOf(message['content'])).findLast((words) => words !== '')
  const last = messages.at(-1)
  const lastBlocks = last?.['role'] === 'user' ? blocksOf(last['content']) : []
  const thinking = asObject(body['thinking'])['type']
  const format = asObject(asObject(body['output_config'])['format'])
  return {
    model: asText(body['model']),
    stream: body['stream'] === true,
    text: spoken ?? '',
    media: mediaOf(lastBlocks),
    system: [textOf(body['system']), ...messages.filter(isSystem).map((message) => textOf(message['content']))]
      .filter(Boolean)
      .join('\n'),
    tools: asObjects(body['tools'])
      .filter((tool) => tool['type'] === undefined || tool['type'] === 'custom')
      .map((tool) => ({ name: asText(tool['name']), schema: asObject(tool['input_schema']) })),
    toolChoice: toolChoiceOf(body['tool_choice']),
    toolResults: asksBeside(lastBlocks.map((block) => asText(block['text'])))
      ? []
      : [...lastBlocks.filter((block) => block['type'] === 'tool_result').map(resultText), ...mediaBeside(lastBlocks)],
    thinking: thinking === 'enabled' || thinking === 'adaptive',
    json: format['type'] === 'json_schema' ? asObject(format['schema']) : undefined,
    maxTokens: asNumber(body['max_tokens']),
    stop: asTexts(body['stop_sequences']),
    choices: 1,
    characters: charactersOf(body['messages']) + charactersOf(body['system']) + charactersOf(body['tools']),
  }
}

const isSystem = (message: Json) => message['role'] === 'system'
