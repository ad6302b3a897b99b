import { type Fields, isObject } from '#relay/chat/json.ts'
import type { ChatRequest, Message, Tool } from '#relay/chat/request.ts'

type Part = Message['content'][number]

/** Files by address or id, and in them pages and hours of video that nobody here has looked at. */
const isElsewhere = (part: Part): boolean =>
  (part.type === 'file' && part.source.kind !== 'base64') ||
  (part.type === 'tool-result' && part.content.some(isElsewhere))

/** Tools of the vendor that read what the caller names: servers of tools, addresses, stores of files. */
const readingTool = /^(mcp|mcp_toolset|url_?context|(openrouter:)?web_?fetch|file_?search|retrieval)(_|$)/i

/** Gemini's tools are named by their one field. */
const reads = (tool: Tool): boolean =>
  tool.type === 'vendor' &&
  isObject(tool.value) &&
  readingTool.test(typeof tool.value['type'] === 'string' ? tool.value['type'] : (Object.keys(tool.value)[0] ?? ''))

const isNamed = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || (Array.isArray(value) ? value.length > 0 : isObject(value))

/** Stored prompts of responses, caches of Gemini, servers of Claude. */
const namesStored = ({ prompt, cachedContent, mcp_servers: servers }: Fields, dialect: string): boolean =>
  (dialect === 'openai-responses' && isObject(prompt)) || isNamed(cachedContent) || isNamed(servers)

/** Whether the upstream reads things for this call that its caller names and does not bring along: no count here says how much that is. */
export const readsUnseen = ({ messages, tools, extra }: ChatRequest): boolean =>
  tools.some(reads) ||
  namesStored(extra.fields, extra.dialect) ||
  messages.some(({ content }) => content.some(isElsewhere))

const usualWindow = 200_000
const largestWindow = 1_000_000

/** What a model can read at most. */
export const mostRead = (model: string, hasLongContext: boolean): number =>
  hasLongContext || /gemini|gpt-4\.1/i.test(model) ? largestWindow : usualWindow
