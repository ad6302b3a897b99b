import type { UpstreamFailure } from '#relay/chat/events.ts'
import { countOf, type Json, wordOf } from '../shared/json.ts'

/** https://github.com/baidubce/bce-qianfan-sdk, `APIErrorCode`. What the caller wrote is no fault of the upstream. */
const statuses: Readonly<Record<number, number>> = {
  4: 429,
  6: 403,
  17: 429,
  18: 429,
  19: 429,
  110: 401,
  111: 401,
  336001: 400,
  336002: 400,
  336003: 400,
  336004: 403,
  336005: 404,
  336100: 503,
  336104: 400,
  336105: 400,
  336501: 429,
  336502: 429,
}

/** Failures come with HTTP 200 and a number of their own. */
export function refusalIn(answer: Json): UpstreamFailure | undefined {
  const code = countOf(answer['error_code'])
  if (code === undefined || code === 0) return undefined
  const message = wordOf(answer['error_msg']) ?? `upstream code ${code}`
  return { status: statuses[code] ?? 500, type: 'upstream_error', code, message, param: null }
}
