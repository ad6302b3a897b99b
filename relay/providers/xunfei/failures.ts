import type { UpstreamFailure } from '#relay/chat/events.ts'
import { countOf, type Json, wordOf } from '../shared/json.ts'

const filtered = new Set([10005, 10013, 10014, 10019])

function statusOf(code: number): number {
  if (code === 11200) return 403
  if (code > 11200 && code < 11300) return 429
  return code === 10163 || code === 10907 || filtered.has(code) ? 400 : 500
}

/** The failure that an answer's number stands for: at its top over HTTP, in the header of a frame of the socket. */
export function refusalIn(answer: Json): UpstreamFailure | undefined {
  const code = countOf(answer['code'])
  if (code === undefined || code === 0 || Number.isNaN(code)) return undefined
  const message = wordOf(answer['message']) ?? `upstream code ${code}`
  const type = filtered.has(code) ? 'content_filter' : 'upstream_error'
  return { status: statusOf(code), type, code, message, param: null }
}
