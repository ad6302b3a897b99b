import type { UpstreamFailure } from '#relay/chat/events.ts'
import { countOf, type Json, wordOf } from '../shared/json.ts'

const statuses: Readonly<Record<number, number>> = {
  17: 429,
  18: 429,
  19: 429,
  110: 401,
  111: 401,
  336003: 400,
  336100: 503,
}

/** Failures come with HTTP 200 and a number of their own. */
export function refusalIn(answer: Json): UpstreamFailure | undefined {
  const code = countOf(answer['error_code'])
  if (code === undefined || code === 0) return undefined
  const message = wordOf(answer['error_msg']) ?? `upstream code ${code}`
  return { status: statuses[code] ?? 500, type: 'upstream_error', code, message, param: null }
}
