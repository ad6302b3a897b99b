import type { IncomingHttpHeaders } from 'node:http'
import type { Directives } from './directives.ts'
import type { Outcome } from './outcome.ts'
import type { Call } from './types.ts'

export type RecordedRequest = {
  /** Milliseconds since 1970. */
  at: number
  method: string
  /** Without directive prefix and query. */
  path: string
  query: Record<string, string>
  headers: IncomingHttpHeaders
  /** Parsed JSON; undefined when there was none. Of a realtime session: the list of its caller's events so far. */
  body: unknown
  /** The body as it came. */
  bytes: Buffer
  key: string | undefined
  directives: Directives
  /** `aborted`: the caller went away first. `broken`: we destroyed the socket, as ordered. */
  outcome: Outcome
  /** Set when the outcome is. */
  status: number | undefined
  endedAt: number | undefined
}

export type Target = Pick<Call, 'method' | 'path' | 'query' | 'headers'> & { directives: Directives }

/** A request that came in and is not answered yet. */
export const recordOf = (target: Target, seen: Pick<RecordedRequest, 'key' | 'body' | 'bytes'>): RecordedRequest => ({
  at: Date.now(),
  method: target.method,
  path: target.path,
  query: Object.fromEntries(target.query),
  headers: target.headers,
  directives: target.directives,
  ...seen,
  outcome: 'open',
  status: undefined,
  endedAt: undefined,
})

/** Adds to a bounded list: the oldest goes first. */
export function remember(requests: RecordedRequest[], request: RecordedRequest): void {
  requests.push(request)
  if (requests.length > 1000) requests.shift()
}
