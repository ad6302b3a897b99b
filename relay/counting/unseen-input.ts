import { googleFields } from '#relay/chat/google-fields.ts'
import { type Fields, isObject } from '#relay/chat/json.ts'
import type { ChatRequest, Message, Tool } from '#relay/chat/request.ts'

type Part = Message['content'][number]

/** An address or an id, wherever it stands: none of the bytes that are read by it are here. */
const isAddressed = (value: unknown, depth = 4): boolean =>
  typeof value === 'string'
    ? /^(https?|gs|s3|oss):/i.test(value)
    : depth > 0 &&
      typeof value === 'object' &&
      value !== null &&
      Object.entries(value).some(
        ([name, inner]) => (/(^|_)file_?id$/i.test(name) && typeof inner === 'string') || isAddressed(inner, depth - 1),
      )

/** Files, audio and video by address or id: pages and hours that nobody here has looked at. An image is of a known size. */
function isElsewhere(part: Part): boolean {
  switch (part.type) {
    case 'file':
    case 'audio':
      return part.source.kind !== 'base64'
    case 'tool-result':
      return part.content.some(isElsewhere)
    case 'vendor':
      return isAddressed(part.value)
    default:
      return false
  }
}

/** Tools of the vendor that read what the caller names: servers of tools, addresses, stores of files. */
const readingTool =
  /^(mcp|mcp_toolset|url_?context|(openrouter:)?web_?fetch|file_?search|collections_?search|document_library|retrieval)(_|$)/i

/** Gemini's tools are named by their one field. */
const isReadingTool = (tool: unknown): boolean =>
  isObject(tool) && readingTool.test(typeof tool['type'] === 'string' ? tool['type'] : (Object.keys(tool)[0] ?? ''))

const reads = (tool: Tool): boolean => tool.type === 'vendor' && isReadingTool(tool.value)

const isNamed = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || (Array.isArray(value) ? value.length > 0 : isObject(value))

/**
 * What the upstream reads for a call that its caller names and does not bring along, so that no count here says how much that is:
 * `parts` of the prompt, of which it knows when it begins to answer, or what `tools` bring while it answers.
 */
export type UnseenInput = 'parts' | 'tools'

export function unseenInput({ messages, tools, extra }: ChatRequest): UnseenInput | undefined {
  const { prompt, cachedContent, cached_content: cache, mcp_servers: servers }: Fields = extra.fields
  // A stored prompt may have tools of its own.
  if (tools.some(reads) || isNamed(servers) || (extra.dialect === 'openai-responses' && isObject(prompt)))
    return 'tools'
  const isCached = [cachedContent, cache, googleFields(extra.fields)['cached_content']].some(isNamed)
  const isUnseen = isCached || messages.some(({ content }) => content.some(isElsewhere))
  return isUnseen ? 'parts' : undefined
}

/** The same of a realtime session, or of one of its responses: a stored prompt, or tools that read. */
export const namesUnseen = ({ prompt, tools }: Fields): boolean =>
  isObject(prompt) || (Array.isArray(tools) && tools.some(isReadingTool))

const usualWindow = 200_000
const largestWindow = 1_000_000

/** https://developers.openai.com/api/docs/models, https://platform.claude.com/docs/en/about-claude/models/overview */
const readsMost =
  /gemini|gpt-4\.1|gpt-5\.[4-9](?!-(mini|nano))|gpt-[6-9]|claude-((opus|sonnet|haiku|fable|mythos)-[5-9]|(opus|sonnet)-4[-.][6-9](?!\d))/i

/** What a model can read at most. */
export const mostRead = (model: string, hasLongContext: boolean): number =>
  hasLongContext || readsMost.test(model) ? largestWindow : usualWindow
