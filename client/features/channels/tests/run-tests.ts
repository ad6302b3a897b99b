export type TestResult = {
  success: boolean
  message: string
  /** Of the last attempt. */
  seconds: number
  /** When it ended, in milliseconds. */
  time: number
  retryCount: number
  isRetryable: boolean
  /** The refusal's name where our own server refused: a missing price can be set at once. */
  code?: string | undefined
}

export type Attempt = Omit<TestResult, 'retryCount' | 'time'>

export const concurrencyLimits = { least: 1, most: 10, preset: 3 }
const betweenBatchesMs = 200
const mostRetries = 2
const firstBackOffMs = 1000
const longestBackOffMs = 5000

export type Run = {
  models: readonly string[]
  concurrency: number
  /** One call; it answers with the failure instead of throwing. */
  attempt: (model: string) => Promise<Attempt>
  /** Resolves after so many milliseconds, or at once when the run is called off. */
  wait: (milliseconds: number) => Promise<unknown>
  now: () => number
  isCancelled: () => boolean
  onStart: (model: string) => void
  onResult: (model: string, result: TestResult) => void
}

export const backOffMs = (retry: number): number => Math.min(firstBackOffMs * 2 ** retry, longestBackOffMs)

/** What may pass by itself is tried again, twice at most, after a pause that doubles. Undefined when called off. */
async function testOne(run: Run, model: string): Promise<TestResult | undefined> {
  for (let retryCount = 0; ; retryCount += 1) {
    const attempt = await run.attempt(model)
    if (run.isCancelled()) return undefined
    const isLast = attempt.success || !attempt.isRetryable || retryCount === mostRetries
    if (isLast) return { ...attempt, retryCount, time: run.now() }
    await run.wait(backOffMs(retryCount))
    if (run.isCancelled()) return undefined
  }
}

/** Tests models a batch at a time with a short pause between; results come as they are known. */
export async function runTests(run: Run): Promise<void> {
  const { models, concurrency, onStart, onResult } = run
  for (let from = 0; from < models.length; from += concurrency) {
    if (from > 0) await run.wait(betweenBatchesMs)
    if (run.isCancelled()) return
    await Promise.all(
      models.slice(from, from + concurrency).map(async (model) => {
        onStart(model)
        const result = await testOne(run, model)
        if (result) onResult(model, result)
      }),
    )
  }
}
