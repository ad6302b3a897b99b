/** Time limits of one call. A channel's `connect_timeout`, `first_byte_timeout`, `idle_timeout` settings change them. */
export type TimeLimits = {
  connectTimeoutMs: number
  /** From sending to the first byte of the answer's body. */
  firstByteTimeoutMs: number
  /** Longest silence inside an answer. */
  idleTimeoutMs: number
}

export const timeLimits = (given: Partial<TimeLimits>): TimeLimits => ({
  connectTimeoutMs: given.connectTimeoutMs ?? 10_000,
  firstByteTimeoutMs: given.firstByteTimeoutMs ?? 600_000,
  idleTimeoutMs: given.idleTimeoutMs ?? 900_000,
})

const longestMs = 2 ** 31 - 1

/** Timers overflow above 2³¹ ms and would fire at once. */
export const asTimerMs = (milliseconds: number) => Math.min(Math.max(milliseconds, 1), longestMs)
