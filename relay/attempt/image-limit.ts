import type { ChatRequest } from '#relay/chat/request.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'

const isPicture = ({ type }: { type: string }): boolean => type === 'image'

const picturesOf = ({ content }: ChatRequest['messages'][number]): number =>
  content.flatMap((part) => (part.type === 'tool-result' ? part.content : [part])).filter(isPicture).length

/**
 * An upstream may take a few pictures in a message; more of them are not even fetched.
 * @throws {InvalidRequest}
 */
export function checkPictures({ messages }: ChatRequest, most: number | undefined): void {
  if (most === undefined || messages.every((message) => picturesOf(message) <= most)) return
  const refusal = `more than ${most} pictures in a message are not supported by this model`
  throw new InvalidRequest('invalid_text_request', refusal)
}
