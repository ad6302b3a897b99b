/** What the generator is asked to send, and how fast. */
export type Load = {
  /** Origin and path of the target; the path may carry directives of the simulated provider. */
  origin: string
  path: string
  /** Access tokens, taken in turn. */
  keys: string[]
  model: string
  stream: boolean
  /** About how long the request bodies are. */
  bodyBytes: number
  /** The output limit that callers set; a short one where none is said. */
  maxTokens?: number | undefined
  pace: ClosedLoop | OpenLoop | Burst
}

/** So many callers, each of which asks again as soon as it has its answer. */
type ClosedLoop = { kind: 'closed'; connections: number; seconds: number }
/** Requests at fixed times, whether or not earlier ones have been answered. */
type OpenLoop = { kind: 'open'; perSecond: number; seconds: number }
/** Every caller asks once, all within `overSeconds`. */
type Burst = { kind: 'burst'; callers: number; overSeconds: number }

export type LoadResult = {
  /** Complete answers with a good status. */
  answers: number
  failures: number
  /** How many of the failures were 503 after a wait: whoever cannot serve in time says so. One at once has another cause. */
  refusals: number
  /** What the first failure looked like. */
  firstFailure: string
  /** From the first request to the last answer. */
  seconds: number
  latency: Milliseconds
  /** From sending (in an open loop: from when it was due) to the first text of the answer; events before it say only that one begins. */
  firstToken: Milliseconds
}

export type Milliseconds = { p50: number; p99: number; highest: number }

/** The value that so many of a hundred are not above. */
export function percentile(sorted: readonly number[], percent: number): number {
  if (sorted.length === 0) return Number.NaN
  return sorted[Math.min(sorted.length - 1, Math.ceil((sorted.length * percent) / 100) - 1)] as number
}

export function summarise(values: number[]): Milliseconds {
  const sorted = Float64Array.from(values).sort() as unknown as number[]
  return { p50: percentile(sorted, 50), p99: percentile(sorted, 99), highest: percentile(sorted, 100) }
}
