import { checkFields } from '../fields.ts'
import { asList, asObject, asObjects, asText, refuse, type Json } from '../prompt.ts'

/** "messages: tool_use ids must be unique", "String should match pattern '^[a-zA-Z0-9_-]+$'": https://github.com/anthropics/claude-code/issues/20901, https://github.com/HKUDS/nanobot/pull/4356 */
function checkCall(block: Json, index: number, ids: Set<string>): void {
  const id = asText(block['id'])
  if (!/^[a-zA-Z0-9_-]+$/.test(id))
    refuse(`messages.${index}.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
  if (ids.has(id)) refuse('messages: `tool_use` ids must be unique')
  ids.add(id)
  if (asText(block['name']).length > 200)
    refuse(`messages.${index}: tool_use.name: String should have at most 200 characters`)
}

/** https://platform.claude.com/docs/en/build-with-claude/vision: "We currently support the base64, url and file source types … image/jpeg, image/png, image/gif, and image/webp". */
const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']

function checkImage(block: Json, place: string): void {
  const source = asObject(block['source'])
  if (source['type'] === 'base64' && !imageTypes.includes(asText(source['media_type'])))
    refuse(
      `${place}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    )
}

/** "all content must be type `text` if `is_error` is true": the vendor's answer, as extensions of npm's @earendil-works/pi-coding-agent quote it. */
function checkResult(block: Json, place: string): void {
  const inner = asObjects(block['content'])
  if (block['is_error'] === true && inner.some((part) => part['type'] !== 'text'))
    refuse(`${place}.tool_result: all content must be type \`text\` if \`is_error\` is true`)
  for (const part of inner) {
    if (part['type'] === 'text' && asText(part['text']) === '')
      refuse('messages: text content blocks must be non-empty')
    if (part['type'] === 'image') checkImage(part, place)
  }
}

const isText = (block: Json): boolean => block['type'] === 'text'
const isBlank = (block: Json): boolean => asText(block['text']).trim() === ''

const blocksOf = (message: Json): Json[] =>
  typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : asObjects(message['content'])

/**
 * "text content blocks must be non-empty" and, where a message says nothing else, "must contain non-whitespace text", each tried out at
 * the vendor: https://github.com/LibreChat-AI/agents/pull/124
 */
export function checkBlocks(body: Json): void {
  const ids = new Set<string>()
  for (const [index, message] of asObjects(body['messages']).entries()) {
    checkFields(message, ['role', 'content'], 'messages.')
    if (asList(message['content']).length === 0 && asText(message['content']) === '')
      refuse('messages: text content blocks must be non-empty')
    const blocks = blocksOf(message)
    for (const [number, block] of blocks.entries()) {
      const place = `messages.${index}.content.${number}`
      if (isText(block) && asText(block['text']) === '') refuse('messages: text content blocks must be non-empty')
      if (block['type'] === 'tool_use') checkCall(block, index, ids)
      if (block['type'] === 'tool_result') checkResult(block, place)
      if (block['type'] === 'image') checkImage(block, place)
    }
    if (blocks.every((block) => isText(block) && isBlank(block)))
      refuse('messages: text content blocks must contain non-whitespace text')
  }
  for (const block of asObjects(body['system']))
    if (asText(block['text']) === '') refuse('system: text content blocks must be non-empty')
}

/**
 * https://platform.claude.com/docs/en/about-claude/models/migration-guide, "Prefill removal": "This model does not support
 * assistant message prefill. The conversation must end with a user message."
 */
const refusesPrefill = /claude-((opus|sonnet)-4-[678]|(opus|sonnet|haiku|fable)-5)/

/**
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking, "Preserving thinking blocks": "a final `assistant` message must
 * start with a thinking block", where the budget is set by the caller.
 */
export function checkEnding(body: Json): void {
  const messages = asObjects(body['messages'])
  const last = messages.at(-1)
  const thinks = asObject(body['thinking'])['type'] === 'enabled'
  if (last?.['role'] === 'assistant') {
    if (refusesPrefill.test(asText(body['model'])) || thinks)
      refuse('This model does not support assistant message prefill. The conversation must end with a user message.')
    const end = blocksOf(last).at(-1)
    if (end && isText(end) && asText(end['text']) !== asText(end['text']).trimEnd())
      refuse('messages: final assistant content cannot end with trailing whitespace')
  }
  const answer = messages.findLast((message) => message['role'] === 'assistant')
  const blocks = answer ? blocksOf(answer) : []
  if (!thinks || !blocks.some((block) => block['type'] === 'tool_use')) return
  // Earlier rounds of the same question stand before it; only the last is looked at.
  const first = asText(blocks[0]?.['type'])
  const isLast = messages.indexOf(answer ?? {}) >= messages.length - 2
  if (isLast && first !== 'thinking' && first !== 'redacted_thinking')
    refuse(
      `messages.${messages.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block`,
    )
}
