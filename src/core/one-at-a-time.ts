/** Never two runs at once, so an older result cannot replace a newer one; all who call during a run share the next. */
export function oneAtATime<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> | null = null
  let next: Promise<Result> | null = null
  const start = (): Promise<Result> => {
    const result = run().finally(() => {
      running = null
    })
    running = result
    return result
  }
  return () => {
    if (next) return next
    if (!running) return start()
    next = running
      .catch(() => {})
      .then(() => {
        next = null
        return start()
      })
    return next
  }
}
