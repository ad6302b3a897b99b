import type { ChatRequest, Message, Tool, UserPart, AssistantPart, ImagePart } from '#relay/chat/request.ts'

/** What a prompt is made of for a counter: texts, things with a fixed count, and where the caller's cache marks stand. */
export type PromptPiece =
  | { kind: 'text'; text: string }
  | { kind: 'tokens'; count: number }
  | { kind: 'picture'; image: ImagePart }
  | { kind: 'cache-mark'; ttl: '5m' | '1h' }

type Rules = { message: number; name: number; toolList: number; tool: number; end: number; image?: number }

const chatRules: Rules = { message: 3, name: 1, toolList: 8, tool: 0, end: 3 }
const earliestChatRules: Rules = { ...chatRules, message: 4, name: -1 }
const claudeRules: Rules = { message: 2, name: 0, toolList: 0, tool: 3, end: 0, image: 1000 }

const rulesOf = (request: ChatRequest): Rules => {
  if (request.extra.dialect === 'claude') return claudeRules
  return request.model === 'gpt-3.5-turbo-0301' ? earliestChatRules : chatRules
}

const audioTokens = 100
const fileTokens = 5000

type Part = UserPart | AssistantPart

/** In the order upstreams cache them: tools, system texts, then the conversation. */
export function promptPieces(request: ChatRequest): PromptPiece[] {
  const rules = rulesOf(request)
  const pieces: PromptPiece[] = []
  const system = request.messages.filter((message) => message.role === 'system')
  const rest = request.messages.filter((message) => message.role !== 'system')
  addTools(pieces, request.tools, rules)
  for (const message of [...system, ...rest]) addMessage(pieces, message, rules)
  if (request.responseFormat?.type === 'json-schema') {
    pieces.push({ kind: 'text', text: JSON.stringify(request.responseFormat.schema) })
  }
  if (request.plainPrompts !== undefined) pieces.push({ kind: 'tokens', count: request.plainPrompts.tokens })
  for (const part of request.nativeOnly ?? []) {
    addPart(pieces, part, rules)
    // It may stand anywhere in the prompt: its mark counts for all of it.
    addMark(pieces, part)
  }
  if (rules.end > 0) pieces.push({ kind: 'tokens', count: rules.end })
  if (request.extra.dialect === 'claude' && hasCacheControl(request.extra.fields['cache_control'])) {
    pieces.push({ kind: 'cache-mark', ttl: ttlOf(request.extra.fields['cache_control']) })
  }
  if (keepsLong(request.extra.fields['prompt_cache_options'])) pieces.push({ kind: 'cache-mark', ttl: '1h' })
  return pieces
}

const hasCacheControl = (value: unknown): value is { ttl?: unknown } => typeof value === 'object' && value !== null
/** OpenAI's longer lifetime, which costs more than Claude's hour. */
const keepsLong = (options: unknown): boolean => hasCacheControl(options) && options.ttl === '12h'
const ttlOf = (mark: { ttl?: unknown }): '5m' | '1h' => (mark.ttl === '1h' ? '1h' : '5m')

function addMark(pieces: PromptPiece[], part: object): void {
  const mark: unknown = 'cacheControl' in part ? part.cacheControl : undefined
  if (hasCacheControl(mark)) pieces.push({ kind: 'cache-mark', ttl: ttlOf(mark) })
}

function addTools(pieces: PromptPiece[], tools: readonly Tool[], rules: Rules): void {
  if (tools.length > 0 && rules.toolList > 0) pieces.push({ kind: 'tokens', count: rules.toolList })
  for (const tool of tools) {
    pieces.push({ kind: 'text', text: toolText(tool) })
    if (rules.tool > 0) pieces.push({ kind: 'tokens', count: rules.tool })
    addMark(pieces, tool)
  }
}

function toolText(tool: Tool): string {
  switch (tool.type) {
    case 'function':
      return `${tool.name}${tool.description ?? ''}${tool.parameters === undefined ? '' : JSON.stringify(tool.parameters)}`
    case 'custom':
      return `${tool.name}${tool.description ?? ''}`
    case 'vendor':
      return JSON.stringify(tool.value) ?? ''
    case 'web-search':
      return 'web_search'
  }
}

function addMessage(pieces: PromptPiece[], message: Message, rules: Rules): void {
  pieces.push({ kind: 'tokens', count: rules.message }, { kind: 'text', text: message.role })
  if ('name' in message && message.name !== undefined) {
    pieces.push({ kind: 'text', text: message.name }, { kind: 'tokens', count: rules.name })
  }
  for (const part of message.content) {
    addPart(pieces, part, rules)
    addMark(pieces, part)
  }
}

function addPart(pieces: PromptPiece[], part: Part, rules: Rules): void {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      pieces.push({ kind: 'text', text: part.text })
      return
    case 'image':
      pieces.push(rules.image === undefined ? { kind: 'picture', image: part } : { kind: 'tokens', count: rules.image })
      return
    case 'audio':
      pieces.push({ kind: 'tokens', count: audioTokens })
      return
    case 'file':
      pieces.push({ kind: 'tokens', count: fileTokens })
      return
    case 'tool-call':
      pieces.push({ kind: 'text', text: `${part.name}${part.arguments}` })
      return
    case 'tool-result':
      for (const inner of part.content) addPart(pieces, inner, rules)
      return
    case 'vendor':
      pieces.push({ kind: 'text', text: JSON.stringify(part.value) ?? '' })
      return
    case 'web-search':
    case 'mcp-call':
      for (const value of part.own.value) pieces.push({ kind: 'text', text: JSON.stringify(value) })
  }
}
