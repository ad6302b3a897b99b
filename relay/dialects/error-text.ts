import type { ChatEvent } from '#relay/chat/events.ts'
import type { CallerError } from './types.ts'

type ErrorEvent = Extract<ChatEvent, { type: 'error' }>

/** The error that ends a translated stream, as its encoder writes it. */
export const shownError = ({ error, requestId = '' }: ErrorEvent): CallerError => ({ ...error, requestId })

/** The caller's message, ending with the request id exactly once. */
export function callerMessage({ message, requestId }: CallerError): string {
  const ending = ` (request id: ${requestId})`
  return requestId === '' || message.endsWith(ending) ? message : `${message}${ending}`
}

/** An error never leaves under a status of success or redirection. */
export const errorStatus = (status: number): number =>
  Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500
