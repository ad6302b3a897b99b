/** Milliseconds that this process could work in; those it was held up in (stopped, paused with its machine) hardly count. */
export type RunningTime = () => number

/**
 * For waits that end in a refusal: who was held up has answers lying in its sockets, and has not waited for them. A look that comes
 * late counts as twice its interval at most.
 */
export function createRunningTime(lookEveryMs = 500): RunningTime {
  let counted = 0
  let last = performance.now()
  const now = (): number => counted + Math.min(performance.now() - last, 2 * lookEveryMs)
  const look = (): void => {
    counted = now()
    last = performance.now()
  }
  setInterval(look, lookEveryMs).unref()
  return now
}

/** Acts once so much of it has passed, unless what it returns is called before. */
export function afterRunning(ms: number, act: () => void, now: RunningTime = runningTime): () => void {
  const end = now() + ms
  const look = (): void => {
    const left = end - now()
    if (left > 0) timer = setTimeout(look, left)
    else act()
  }
  let timer = setTimeout(look, ms)
  return () => clearTimeout(timer)
}

let ofProcess: RunningTime | undefined

/** One for all of the process. */
export const runningTime: RunningTime = () => (ofProcess ??= createRunningTime())()
