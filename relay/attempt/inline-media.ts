import { DomainError } from '#core/errors.ts'
import { networkOf } from '#features/client-address/service.ts'
import type { Holding } from '#features/request-bodies/budget.ts'
import type { ChatTranslation } from '#relay/providers/types.ts'
import type { CallCore, RelayServices } from '#relay/request/call.ts'
import type { InlineMedia, MediaFetcher } from '#relay/transport/media.ts'
import type { HoldMore } from '#relay/transport/send.ts'
import { TransportError } from '#relay/transport/transport-error.ts'

/** The hub's request, as far as providers name it. */
type ChatRequest = Parameters<ChatTranslation['request']>[0]
type Message = ChatRequest['messages'][number]

type Part = Exclude<Message, { role: 'system' }>['content'][number]
type MediaPart = Extract<Part, { type: 'image' | 'audio' | 'file' }>

/** A caller may name many large files; these bounds keep one request from filling the memory. */
const mostFiles = 64
const mostBase64 = 96 * 1024 * 1024
const concurrency = 4
/** A file is there as base64, in the JSON of a body and in the bytes of that, each a third longer than the file itself. */
const copies = 4

const isMedia = (part: Part): part is MediaPart =>
  part.type === 'image' || part.type === 'audio' || part.type === 'file'

/**
 * The request with every image and file that is given by address replaced by its bytes, for upstreams that want them.
 * Addresses that the upstream reads itself stay.
 * @throws {DomainError} relay.media_failed, input.no_room, input.address_full; {TransportError} `aborted` when the caller has gone.
 */
export async function inlineMedia(
  request: ChatRequest,
  given: {
    fetchMedia: MediaFetcher
    /** Memory for the files, kept for as long as the request is; asked for once there is any to fetch. */
    memory: () => FileMemory
    keepsAddress?: ChatTranslation['keepsAddress']
    signal?: AbortSignal | undefined
  },
): Promise<ChatRequest> {
  const wanted = (part: Part): part is MediaPart =>
    isMedia(part) && part.source.kind === 'url' && !given.keepsAddress?.(part)
  const urls = [...new Set(partsOf(request).filter(wanted).flatMap(addressOf))]
  if (urls.length === 0) return request
  if (urls.length > mostFiles) throw new DomainError('relay.media_failed', { detail: `more than ${mostFiles} files` })
  const fetched = await fetchAll(urls, { ...given, memory: given.memory() })
  const inline = <P extends Part>(part: P): P => {
    if (part.type === 'tool-result') return { ...part, content: part.content.map((inner) => inline(inner)) }
    if (!wanted(part) || part.source.kind !== 'url') return part
    const media = fetched.get(part.source.url)
    return media ? { ...part, source: { kind: 'base64', ...media } } : part
  }
  const messages = request.messages.map((message): Message => {
    if (message.role === 'system') return message
    return message.role === 'user'
      ? { ...message, content: message.content.map(inline) }
      : { ...message, content: message.content.map(inline) }
  })
  return { ...request, messages }
}

const addressOf = (part: MediaPart): string[] => (part.source.kind === 'url' ? [part.source.url] : [])

const partsOf = ({ messages }: ChatRequest): Part[] =>
  messages.flatMap((message): Part[] =>
    message.role === 'system'
      ? []
      : (message.content as Part[]).flatMap((part): Part[] => (part.type === 'tool-result' ? part.content : [part])),
  )

const tooLarge = () => new DomainError('relay.media_failed', { detail: 'the files are too large together' })

type FileMemory = Pick<Holding, 'raise' | 'bytes' | 'most'>

/** Memory for the files of a call, which counts as one with that of its body. */
export const openFileMemory = ({ bodies }: RelayServices, { ip, body }: CallCore): Holding =>
  body.holding?.beside() ?? bodies.budget.open(networkOf(ip))

/** Several files arrive at once, and a holding waits for one figure at a time. */
function holdInTurn(memory: FileMemory): HoldMore {
  let total = memory.bytes()
  let last = Promise.resolve()
  return (bytes) => {
    total += copies * bytes
    if (total > memory.most) return Promise.reject(tooLarge())
    const wanted = total
    last = last.then(() => memory.raise(wanted))
    return last
  }
}

type Fetching = { fetchMedia: MediaFetcher; memory: FileMemory; signal?: AbortSignal | undefined }

async function fetchAll(urls: string[], { fetchMedia, memory, signal }: Fetching) {
  const hold = holdInTurn(memory)
  // What has become of no use is not fetched to its end.
  const over = new AbortController()
  const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const fetched = new Map<string, InlineMedia>()
  const waiting = urls.values()
  let total = 0
  const work = async (): Promise<void> => {
    for (const url of waiting) {
      const media = await fetchMedia(url, { signal: either, hold })
      total += media.data.length
      if (total > mostBase64) throw tooLarge()
      fetched.set(url, media)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, urls.length) }, work))
  } catch (error) {
    if (error instanceof TransportError && error.kind !== 'aborted') {
      throw new DomainError('relay.media_failed', { detail: error.message }, { cause: error })
    }
    throw error
  } finally {
    over.abort()
  }
  return fetched
}
