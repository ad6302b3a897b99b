import type { ChatRequest, Message } from '#relay/chat/request.ts'
import type { ProviderCall, Upload, Uploads, UpstreamRequest } from '#relay/providers/types.ts'
import { resolveSource } from '#relay/providers/shared/media.ts'
import { DomainError } from '#core/errors.ts'

type Part = Exclude<Message, { role: 'system' }>['content'][number]
type Media = Upload['part']

const isBytes = (part: Part): part is Media =>
  (part.type === 'image' || part.type === 'audio' || part.type === 'file') &&
  resolveSource(part.source).kind === 'base64'

const endings: Readonly<Record<string, string>> = { 'image/jpeg': 'jpg', 'audio/mpeg': 'mp3', 'text/plain': 'txt' }

function nameOf(part: Media, mediaType: string): string {
  if (part.type === 'file' && part.filename !== undefined) return part.filename
  return `${part.type}.${endings[mediaType] ?? mediaType.split('/').at(-1) ?? 'bin'}`
}

function formOf(part: Media, user: string): FormData {
  const form = new FormData()
  const source = resolveSource(part.source)
  if (source.kind === 'base64') {
    const blob = new Blob([Buffer.from(source.data, 'base64')], { type: source.mediaType })
    form.set('file', blob, nameOf(part, source.mediaType))
  }
  form.set('user', user)
  return form
}

/**
 * The request with every file that holds bytes sent before it and named by its id.
 * @throws {DomainError} relay.media_failed when the upstream takes a file and gives it no id.
 */
export async function uploadMedia(
  request: ChatRequest,
  given: { uploads: Uploads; call: ProviderCall; post: (request: UpstreamRequest) => Promise<unknown> },
): Promise<ChatRequest> {
  const { uploads, call, post } = given
  if (!request.messages.some((message) => message.role === 'user' && message.content.some(isBytes))) return request
  // Files belong to whoever sent them, so the call that follows has to come from the same user.
  const user = request.user ?? call.ambient.newId(16)
  const send = async (part: Part): Promise<Part> => {
    if (!isBytes(part)) return part
    const id = uploads.read(await post(uploads.request({ part, form: formOf(part, user) }, call)))
    if (id === undefined) throw new DomainError('relay.media_failed', { detail: 'the upstream did not keep the file' })
    return { ...part, source: { kind: 'file-id', id } } as Part
  }
  const messages: Message[] = []
  for (const message of request.messages) {
    if (message.role !== 'user') {
      messages.push(message)
      continue
    }
    const content: Part[] = []
    for (const part of message.content) content.push(await send(part))
    messages.push({ ...message, content } as Message)
  }
  return { ...request, user, messages }
}
