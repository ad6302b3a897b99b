import { DomainError } from '#core/errors.ts'
import type { ChatRequest } from '#relay/chat/request.ts'

const isImage = ({ type }: { type: string }): boolean => type === 'image'

const imagesOf = ({ content }: ChatRequest['messages'][number]): number =>
  content.flatMap((part) => (part.type === 'tool-result' ? part.content : [part])).filter(isImage).length

/**
 * An upstream may take a few images in a message; more of them are not even fetched.
 * @throws {DomainError}
 */
export function checkImages({ messages }: ChatRequest, most: number | undefined): void {
  if (most === undefined || messages.every((message) => imagesOf(message) <= most)) return
  throw new DomainError('unsupported.image_count', { most })
}
