import { takesRemoteCalls, takesSearches } from './hosted/ids.ts'
import { isEmptyValue, isObject } from './json.ts'
import type { ChatRequest, CustomTool, DialectId, Message, WebSearchTool } from './request.ts'

/** Fields that parsing has also put into the hub's own fields; leaving the original out loses nothing. */
const mirrored = new Set(['thinking', 'reasoning', 'enable_thinking', 'thinking_budget', 'output_config'])

/** Other words for thinking, which a chat completion is read by before Google's. */
const otherThinking = ['thinking', 'reasoning', 'enable_thinking']

/**
 * Whether the same is true of Google's own fields of a chat completion, which stand together in one; what is cached its upstream
 * alone reads.
 */
function isRead({ dialect, fields }: ChatRequest['extra'], target: DialectId | undefined): boolean {
  const extraBody = fields['extra_body']
  if (dialect !== 'openai-chat' || !isObject(extraBody)) return false
  const { google, ...others } = extraBody
  if (!isObject(google) || Object.keys(others).length > 0) return false
  return Object.keys(google).every(
    (name) =>
      (/^thinking(_c|C)onfig$/.test(name) && otherThinking.every((other) => (fields[other] ?? null) === null)) ||
      (name === 'cached_content' && target === 'gemini'),
  )
}

/** What the gateway sees to itself for callers of responses: it keeps answers. */
const own: Readonly<Partial<Record<DialectId, ReadonlySet<string>>>> = {
  'openai-responses': new Set(['store']),
}

/**
 * What gets lost on the way to an upstream of the given dialect, by name: what parsing had to leave out, the caller's own
 * extra fields, and parts and tools that only the caller's vendor knows. A provider adds what it drops itself. Without a
 * target, for an upstream that takes no dialect's own fields, all of them.
 */
export function lossesTowards(request: ChatRequest, target: DialectId | undefined): string[] {
  const lost = new Set(request.losses)
  if (request.extra.dialect !== target) {
    const { dialect, fields } = request.extra
    for (const [name, value] of Object.entries(fields))
      if (!isEmptyValue(value) && !mirrored.has(name) && !own[dialect]?.has(name)) lost.add(name)
    if (isRead(request.extra, target)) lost.delete('extra_body')
  }
  // That form of an answer is written without the probabilities of its text.
  if (request.extra.dialect === 'openai-responses' && request.logprobs === true) lost.add('logprobs')
  for (const message of request.messages) {
    for (const part of message.content) {
      if (part.type === 'audio' && part.source.kind === 'file-id' && target !== 'openai-chat') lost.add('audio')
      const proof = part.type === 'tool-call' ? part.signature?.dialect : undefined
      // Some servers of OpenAI's form take one, which their writer knows.
      if (proof !== undefined && proof !== target && target !== 'openai-chat') lost.add('thoughtSignature')
      if (part.type === 'vendor' && part.dialect !== target) lost.add(typeName(part.value) ?? 'messages.content')
      const isHosted = part.type === 'web-search' || part.type === 'mcp-call'
      if (!isHosted || part.own.dialect === target) continue
      const takes = part.type === 'web-search' ? takesSearches : takesRemoteCalls
      if (!takes(target)) for (const value of part.own.value) lost.add(typeName(value) ?? 'messages.content')
    }
  }
  for (const tool of request.tools) {
    if (tool.type === 'custom' && target !== 'openai-chat' && target !== 'openai-responses' && hasGrammar(tool)) {
      lost.add('tools.format')
    }
    if (tool.type === 'web-search') for (const name of searchDetails(tool)) if (!searches(target, name)) lost.add(name)
    if (tool.type === 'vendor' && tool.dialect !== target) lost.add(`tools.${typeName(tool.value) ?? 'type'}`)
  }
  return [...lost]
}

type SearchDetail = 'allowed_domains' | 'blocked_domains' | 'user_location'

/** What a search can be given besides how far to look, by the dialect that has a word for it. */
const searchWords: Readonly<Record<DialectId, readonly SearchDetail[]>> = {
  'openai-chat': ['user_location'],
  'openai-responses': ['allowed_domains', 'user_location'],
  claude: ['allowed_domains', 'blocked_domains', 'user_location'],
  gemini: [],
}

const searches = (target: DialectId | undefined, name: SearchDetail): boolean =>
  target !== undefined && searchWords[target].includes(name)

const searchDetails = (tool: WebSearchTool): SearchDetail[] => [
  ...(tool.allowedDomains ? (['allowed_domains'] as const) : []),
  ...(tool.blockedDomains ? (['blocked_domains'] as const) : []),
  ...(tool.userLocation ? (['user_location'] as const) : []),
]

/** Whether free text has to follow a grammar: only its own vendor can see to that. */
export const hasGrammar = (tool: CustomTool): boolean => tool.format !== undefined && typeName(tool.format) !== 'text'

function typeName(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if ('type' in value && typeof value.type === 'string') return value.type
  return Object.keys(value)[0]
}

/**
 * The name of a field that must not be dropped silently and that no upstream of another dialect can honour (state an
 * upstream keeps, background work), or undefined.
 */
export function untranslatable(
  request: ChatRequest,
  target: DialectId,
  { keepsThreads = false }: { keepsThreads?: boolean | undefined } = {},
): string | undefined {
  if (request.plainPrompts !== undefined) return 'more than one text as the prompt'
  const { dialect, fields } = request.extra
  // Hosts that speak the dialect need not keep threads.
  if (dialect === 'claude') return keepsThreads || (fields['thread'] ?? null) === null ? undefined : 'thread'
  if (dialect === target) return undefined
  if (dialect === 'gemini') return isEmptyValue(fields['cachedContent']) ? undefined : 'cachedContent'
  if (dialect !== 'openai-responses') return undefined
  for (const name of ['previous_response_id', 'conversation', 'prompt']) {
    if (fields[name] !== undefined && fields[name] !== null) return name
  }
  if (fields['background'] === true) return 'background'
  const referring = request.messages.some((message) =>
    message.content.some((part) => part.type === 'vendor' && typeName(part.value) === 'item_reference'),
  )
  return referring ? 'item_reference' : undefined
}

type Part = Message['content'][number]

const partsOf = ({ messages }: ChatRequest): Part[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((part: Part): Part[] => (part.type === 'tool-result' ? [part, ...part.content] : [part])),
  )

/** Upstreams that want every result behind its call are not shown one that answers nothing. */
function answersNothing({ messages }: ChatRequest): boolean {
  const asked = new Set<string>()
  for (const part of messages.flatMap(({ content }): Part[] => content)) {
    if (part.type === 'tool-call') asked.add(part.id)
    if (part.type === 'tool-result' && !asked.has(part.callId)) return true
  }
  return false
}

const isMarked = (thing: object): boolean => 'cacheControl' in thing && thing.cacheControl !== undefined

/** Small things that only some dialects have a word for: whether a request holds any, by the name of its loss. */
export const details = {
  cache_control: (request) => [...partsOf(request), ...request.tools].some(isMarked),
  name: ({ messages }) => messages.some((message) => 'name' in message && message.name !== undefined),
  detail: (request) =>
    partsOf(request).some((part) => part.type === 'image' && (part.detail === 'low' || part.detail === 'high')),
  filename: (request) => partsOf(request).some((part) => part.type === 'file' && part.filename !== undefined),
  image: ({ messages }) =>
    messages.some(({ role, content }) => role === 'assistant' && content.some((part) => part.type === 'image')),
  tool_result: answersNothing,
  'tools.strict': ({ tools }) => tools.some((tool) => tool.type === 'function' && tool.strict === true),
  'audio.format': ({ audio }) => audio?.format !== undefined,
} satisfies Record<string, (request: ChatRequest) => boolean>

/** Which of these a request holds. */
export const detailsIn = (request: ChatRequest, names: readonly (keyof typeof details)[]): string[] =>
  names.filter((name) => details[name](request))

const longestName = 64
const longestList = 2000

/** Names may come from the caller; a header holds visible characters only, and a separator is none of a name. */
const written = (name: string): string => name.slice(0, longestName).replaceAll(/[^!-+\--~]/g, '?')

/** What of a call was not sent on, for its caller. */
export function nameLosses(
  res: { setHeader: (name: string, value: string) => unknown },
  losses: readonly string[] = [],
): void {
  if (losses.length > 0) res.setHeader('x-translation-loss', losses.join(','))
}

/**
 * Names of what is lost as a header and a log row can hold them, each once. A body made of names nobody knows is reported by
 * its first ones: clients refuse an answer whose headers are too long.
 */
export function lossNames(losses: readonly string[]): string[] {
  const names: string[] = []
  let length = 0
  for (const name of new Set(losses.map(written))) {
    length += name.length + 1
    if (length > longestList) return [...names, '...']
    names.push(name)
  }
  return names
}
