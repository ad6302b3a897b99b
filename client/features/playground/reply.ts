import type { WireTool } from './tools.ts'

/** What the reader wrote. */
export type Turn = {
  id: number
  role: 'user'
  content: string
  /** `data:` addresses. */
  images?: readonly string[]
}

export type ToolCall = {
  id: string
  name: string
  arguments: string
  /** The number under which its pieces come, where they have one. */
  index?: number
}

/** What a called function returned, as the reader typed it. */
export type ToolResult = { id: number; role: 'tool'; callId: string; name: string; content: string }

export type ReplyUsage = { promptTokens: number; completionTokens: number; cachedTokens: number }

/** What a model answered, as far as it has come. */
export type Reply = {
  id: number
  role: 'assistant'
  status: 'loading' | 'incomplete' | 'complete' | 'error'
  model: string
  content: string
  thinking: string
  toolCalls: readonly ToolCall[]
  /** The reader ended it. */
  stopped: boolean
  finishReason: string
  error?: unknown
  requestId: string
  usage?: ReplyUsage
  /** Milliseconds of the page's clock. */
  startedAt: number
  firstAt?: number
  endedAt?: number
  request: CallBody
  /** The data of each event, as it came. */
  events: string[]
}

export type Message = Turn | ToolResult | Reply

export type ContentPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

export type WireCall = { id: string; type: 'function'; function: { name: string; arguments: string } }

export type WireMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ContentPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: WireCall[] }
  | { role: 'tool'; tool_call_id: string; content: string }

export type CallBody = {
  model: string
  group: string
  messages: WireMessage[]
  stream: true
  stream_options: { include_usage: true }
  temperature?: number
  top_p?: number
  max_tokens?: number
  frequency_penalty?: number
  presence_penalty?: number
  seed?: number
  reasoning_effort?: string
  tools?: WireTool[]
}

type CallPiece = { index?: unknown; id?: unknown; function?: { name?: unknown; arguments?: unknown } | null }

type Chunk = {
  choices?: {
    delta?: { content?: unknown; reasoning_content?: unknown; reasoning?: unknown; tool_calls?: CallPiece[] | null }
    finish_reason?: unknown
  }[]
  usage?: {
    prompt_tokens?: unknown
    completion_tokens?: unknown
    prompt_tokens_details?: { cached_tokens?: unknown } | null
  } | null
}

const words = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): number => (typeof value === 'number' ? value : 0)

export const doneMarker = '[DONE]'

/**
 * A call comes in pieces: its name first, then its arguments bit by bit. Upstreams number calls from 0, from 1, or all of them 0, or
 * name them by id alone; their numbers need not be their places.
 */
function withCalls(calls: readonly ToolCall[], pieces: readonly CallPiece[]): readonly ToolCall[] {
  return pieces.reduce<readonly ToolCall[]>((all, { index, id: givenId, function: part }) => {
    const [id, name] = [words(givenId), words(part?.name)]
    const number = typeof index === 'number' ? { index } : {}
    const known = all.findLast((call) =>
      number.index !== undefined ? call.index === number.index : id !== '' ? call.id === id : name === '',
    )
    const isAnother = name !== '' && id !== '' && known !== undefined && known.id !== '' && known.id !== id
    const before = known && !isAnother ? known : { id: '', name: '', arguments: '', ...number }
    const grown: ToolCall = {
      ...before,
      id: before.id || id,
      name: before.name || name,
      arguments: before.arguments + words(part?.arguments),
    }
    return before === known ? all.with(all.indexOf(known), grown) : [...all, grown]
  }, calls)
}

/** The reply with one more piece of it. */
export function withChunk(reply: Reply, chunk: Chunk, now: number): Reply {
  const [choice] = chunk.choices ?? []
  const delta = choice?.delta
  const content = words(delta?.content)
  const thinking = words(delta?.reasoning_content) || words(delta?.reasoning)
  const pieces = Array.isArray(delta?.tool_calls) ? delta.tool_calls : []
  const arrived = content !== '' || thinking !== '' || pieces.length > 0
  const { usage } = chunk
  return {
    ...reply,
    status: arrived ? 'incomplete' : reply.status,
    content: reply.content + content,
    thinking: reply.thinking + thinking,
    toolCalls: pieces.length > 0 ? withCalls(reply.toolCalls, pieces) : reply.toolCalls,
    finishReason: words(choice?.finish_reason) || reply.finishReason,
    ...(arrived && reply.firstAt === undefined && { firstAt: now }),
    ...(usage && {
      usage: {
        promptTokens: count(usage.prompt_tokens),
        completionTokens: count(usage.completion_tokens),
        cachedTokens: count(usage.prompt_tokens_details?.cached_tokens),
      },
    }),
  }
}

const contentOf = ({ content, images = [] }: Turn): string | ContentPart[] =>
  images.length === 0
    ? content
    : [
        ...(content === '' ? [] : [{ type: 'text' as const, text: content }]),
        ...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
      ]

/** Calls without a result would make the next call invalid, so only those that have one are repeated. */
function replyOf(reply: Reply, results: ReadonlySet<string>): WireMessage[] {
  if (reply.status !== 'complete') return []
  const calls = reply.toolCalls.filter(({ id }) => results.has(id))
  if (reply.content === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: reply.content === '' ? null : reply.content,
      ...(calls.length > 0 && {
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: 'function' as const,
          function: { name: call.name, arguments: call.arguments },
        })),
      }),
    },
  ]
}

/** What the model is reported next: the system's words, then everything that was said and answered. */
export function wireMessages(system: string, messages: readonly Message[]): WireMessage[] {
  const results = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : [])))
  const sent = messages.flatMap((message): WireMessage[] => {
    if (message.role === 'user') return [{ role: 'user', content: contentOf(message) }]
    if (message.role === 'tool') return [{ role: 'tool', tool_call_id: message.callId, content: message.content }]
    return replyOf(message, results)
  })
  return system.trim() === '' ? sent : [{ role: 'system', content: system }, ...sent]
}

/** The calls of the latest reply that wait for a result. */
export function openCalls(messages: readonly Message[]): readonly ToolCall[] {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.status === 'complete' && !last.stopped ? last.toolCalls : []
}

/** Tokens a second, once they came; nothing for what came at once. */
export function speedOf(reply: Reply, completionTokens: number): number | undefined {
  if (reply.firstAt === undefined || reply.endedAt === undefined) return undefined
  const seconds = (reply.endedAt - reply.firstAt) / 1000
  return seconds < 0.05 || completionTokens === 0 ? undefined : completionTokens / seconds
}
