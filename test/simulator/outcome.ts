import type { ServerResponse } from 'node:http'

export type Outcome = 'open' | 'answered' | 'aborted' | 'broken'

const brokenByUs = new WeakSet<ServerResponse>()

/** Destroys the socket as a directive ordered, which is not to be taken for an abort of the caller's. */
export function breakSocket(response: ServerResponse): void {
  brokenByUs.add(response)
  response.socket?.resetAndDestroy()
}

/** Closes the socket in the middle of an answer, politely. */
export function leaveSocket(response: ServerResponse): void {
  brokenByUs.add(response)
  response.socket?.end()
}

/** How a closed response ended. */
export function outcomeOf(response: ServerResponse): Outcome {
  if (response.writableFinished) return 'answered'
  return brokenByUs.has(response) ? 'broken' : 'aborted'
}
