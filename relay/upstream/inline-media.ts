import { DomainError } from '#core/errors.ts'
import type { ChatTranslation } from '#relay/providers/types.ts'
import type { InlineMedia, MediaFetcher } from './media.ts'
import { TransportError } from './transport-error.ts'

/** The hub's request, as far as providers name it. */
type ChatRequest = Parameters<ChatTranslation['request']>[0]
type Message = ChatRequest['messages'][number]
type Part = Exclude<Message, { role: 'system' }>['content'][number]
type MediaPart = Extract<Part, { source: unknown }>

/** A caller may name many large files; these bounds keep one request from filling the memory. */
const maxFiles = 64
const maxTotalBase64 = 96 * 1_048_576
const concurrency = 4

const hasSource = (part: Part): part is MediaPart => 'source' in part

function* addressesOf(messages: Message[]): Generator<string> {
  for (const { content } of messages)
    for (const part of content) {
      const inner: Part[] = part.type === 'tool-result' ? part.content : [part]
      for (const each of inner) if (hasSource(each) && each.source.kind === 'url') yield each.source.url
    }
}

const failed = (detail: string, cause?: unknown) => new DomainError('relay.media_failed', { detail }, { cause })

async function fetchAll(urls: string[], fetchMedia: MediaFetcher, signal: AbortSignal | undefined) {
  const fetched = new Map<string, InlineMedia>()
  const waiting = urls.values()
  let total = 0
  const work = async () => {
    for (const url of waiting) {
      const media = await fetchMedia(url, signal)
      total += media.data.length
      if (total > maxTotalBase64) throw failed('the files are too large together')
      fetched.set(url, media)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return fetched
}

function inlined<P extends Part>(part: P, fetched: Map<string, InlineMedia>): P {
  if (part.type === 'tool-result') return { ...part, content: part.content.map((each) => inlined(each, fetched)) }
  if (!hasSource(part) || part.source.kind !== 'url') return part
  const media = fetched.get(part.source.url)
  return media ? { ...part, source: { kind: 'base64', ...media } } : part
}

/**
 * The request with every picture and file that is given by address replaced by its bytes.
 * @throws {DomainError} `relay.media_failed`; {TransportError} `aborted` when the caller has gone.
 */
export async function inlineMedia(
  request: ChatRequest,
  fetchMedia: MediaFetcher,
  signal?: AbortSignal,
): Promise<ChatRequest> {
  const urls = [...new Set(addressesOf(request.messages))]
  if (urls.length === 0) return request
  if (urls.length > maxFiles) throw failed(`more than ${maxFiles} files`)
  try {
    const fetched = await fetchAll(urls, fetchMedia, signal)
    const messages = request.messages.map((message): Message => {
      if (message.role === 'system') return message
      if (message.role === 'user') return { ...message, content: message.content.map((part) => inlined(part, fetched)) }
      return { ...message, content: message.content.map((part) => inlined(part, fetched)) }
    })
    return { ...request, messages }
  } catch (error) {
    if (error instanceof TransportError && error.kind !== 'aborted') throw failed(error.message, error)
    throw error
  }
}
