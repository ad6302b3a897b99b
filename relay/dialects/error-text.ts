import type { CallerError } from './types.ts'

/** The caller's message, ending with the request id exactly once. */
export function callerMessage({ message, requestId }: CallerError): string {
  const ending = ` (request id: ${requestId})`
  return requestId === '' || message.endsWith(ending) ? message : `${message}${ending}`
}

/** An error never leaves under a status of success or redirection. */
export const errorStatus = (status: number): number =>
  Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500
