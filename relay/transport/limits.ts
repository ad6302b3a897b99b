/** Time limits of one call. A channel's `connect_timeout`, `first_byte_timeout`, `idle_timeout` settings change them. */
export type TimeLimits = {
  connectTimeoutMs: number
  /** From sending to the first byte of the answer's body. */
  firstByteTimeoutMs: number
  /** Longest silence inside an answer. */
  idleTimeoutMs: number
  /** From sending to the end of the answer, for answers that are short: an upstream can go on for ever a byte at a time. */
  totalTimeoutMs?: number | undefined
}

export const timeLimits = (given: Partial<TimeLimits>): TimeLimits => ({
  totalTimeoutMs: given.totalTimeoutMs,
  connectTimeoutMs: given.connectTimeoutMs ?? 10_000,
  firstByteTimeoutMs: given.firstByteTimeoutMs ?? 600_000,
  idleTimeoutMs: given.idleTimeoutMs ?? 900_000,
})

const longestMs = 2 ** 31 - 1

/** Timers overflow above 2³¹ ms and would fire at once. */
export const asTimerMs = (milliseconds: number) => Math.min(Math.max(milliseconds, 1), longestMs)

/** Once its answer is over, an upstream may be silent for so long, and send so much, to say what it used: the caller waits for that. */
const longestSilenceAfterEndMs = 30_000
const mostAfterEnd = 16 * 1_048_576
/** Of several answers one may end long before the others, and all that comes after it is held; others end again and again. */
const mostAfterFirstEnd = 128 * 1_048_576

/** Ends an exchange that goes on after the end of its answer. */
export function createEndLimit(
  { cancel }: { cancel: () => void },
  { idleTimeoutMs, choices }: Pick<TimeLimits, 'idleTimeoutMs'> & { choices: number },
) {
  const isSole = choices === 1
  let received = 0
  let timer: NodeJS.Timeout | undefined
  return {
    /** Takes note of what came with the end of the answer or after it. Bytes that are no event only keep a connection open. */
    note: ({ bytes, events, continued = false }: { bytes: number; events: number; continued?: boolean }): void => {
      if (timer !== undefined && events > 0) timer.refresh()
      if (isSole) timer ??= setTimeout(cancel, asTimerMs(Math.min(longestSilenceAfterEndMs, idleTimeoutMs)))
      received += bytes
      if (received > (isSole && !continued ? mostAfterEnd : mostAfterFirstEnd)) cancel()
    },
    /** It was not the end. */
    resume: (): void => {
      clearTimeout(timer)
      timer = undefined
      received = 0
    },
    clear: (): void => clearTimeout(timer),
  }
}

/** Clients that wait for a first byte are not kept waiting longer by an upstream that opens its stream and then thinks. */
const longestOpeningMs = 5000
/** Some openings repeat the request; an upstream that goes on opening may not fill the memory. */
const mostOpeningCharacters = 1_048_576

/** How long, and how much of, what opens an answer is kept back. `release` is called when the time is over. */
export function createOpeningLimit(release: () => void) {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const end = (): void => {
    isOver = true
    clearTimeout(timer)
  }
  return {
    /** Whether such text still has to wait. */
    holds: (text: string): boolean => {
      if (text.length > mostOpeningCharacters) end()
      if (isOver) return false
      timer ??= setTimeout(() => {
        end()
        release()
      }, longestOpeningMs)
      return true
    },
    end,
  }
}
