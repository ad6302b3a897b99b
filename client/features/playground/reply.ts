/** What the reader wrote. */
export type Turn = { id: number; role: 'user'; content: string }

export type ReplyUsage = { promptTokens: number; completionTokens: number; cachedTokens: number }

/** What a model answered, as far as it has come. */
export type Reply = {
  id: number
  role: 'assistant'
  status: 'loading' | 'incomplete' | 'complete' | 'error'
  model: string
  content: string
  thinking: string
  /** The reader ended it. */
  stopped: boolean
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

export type Message = Turn | Reply

type WireMessage = { role: 'system' | 'user' | 'assistant'; content: string }

export type CallBody = {
  model: string
  group: string
  messages: WireMessage[]
  stream: true
  stream_options: { include_usage: true }
  temperature?: number
  max_tokens?: number
}

type Chunk = {
  choices?: { delta?: { content?: unknown; reasoning_content?: unknown; reasoning?: unknown } }[]
  usage?: {
    prompt_tokens?: unknown
    completion_tokens?: unknown
    prompt_tokens_details?: { cached_tokens?: unknown } | null
  } | null
}

const words = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): number => (typeof value === 'number' ? value : 0)

export const doneMarker = '[DONE]'

/** The reply with one more piece of it. */
export function withChunk(reply: Reply, chunk: Chunk, now: number): Reply {
  const delta = chunk.choices?.[0]?.delta
  const content = words(delta?.content)
  const thinking = words(delta?.reasoning_content) || words(delta?.reasoning)
  const arrived = content !== '' || thinking !== ''
  const { usage } = chunk
  return {
    ...reply,
    status: arrived ? 'incomplete' : reply.status,
    content: reply.content + content,
    thinking: reply.thinking + thinking,
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

/** What the model is told next: the system's words, then everything that was said and answered. */
export function wireMessages(system: string, messages: readonly Message[]): WireMessage[] {
  const texts = messages
    .filter((message) => message.role === 'user' || (message.status === 'complete' && message.content !== ''))
    .map(({ role, content }) => ({ role, content }))
  return system.trim() === '' ? texts : [{ role: 'system', content: system }, ...texts]
}

/** Tokens a second, once they came; nothing for what came at once. */
export function speedOf(reply: Reply, completionTokens: number): number | undefined {
  if (reply.firstAt === undefined || reply.endedAt === undefined) return undefined
  const seconds = (reply.endedAt - reply.firstAt) / 1000
  return seconds < 0.05 || completionTokens === 0 ? undefined : completionTokens / seconds
}
