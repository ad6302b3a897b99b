import { errorRow } from '#core/errors.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import type { Store } from '../../../lib/store.ts'
import { createStoredJson } from '../../../lib/stored.ts'
import type { TestResult } from './run-tests.ts'

export type Probe = RouterOutputs['admin']['channels']['health'][number]['probes'][number]

/** Results by channel and model. */
export type ResultCache = Readonly<Record<string, Readonly<Record<string, TestResult>>>>

const lifetimeMs = 24 * 3_600_000

export const storedResults: Store<ResultCache> = createStoredJson<ResultCache>('channel-test-results', {})

/** What is still worth showing; a day later nobody knows. */
export function freshResults(cache: ResultCache, now: number): ResultCache {
  const channels = Object.entries(cache).map(([channel, results]) => {
    const fresh = Object.entries(results).filter(([, { time }]) => now - time < lifetimeMs)
    return [channel, Object.fromEntries(fresh)] as const
  })
  return Object.fromEntries(channels.filter(([, results]) => Object.keys(results).length > 0))
}

type Finding = { channelId: number; model: string; result: TestResult }

export function withResult(cache: ResultCache, { channelId, model, result }: Finding): ResultCache {
  return { ...cache, [channelId]: { ...cache[channelId], [model]: result } }
}

/** How many of the newest tests of a channel are asked for: what is shown of one agrees wherever it is shown. */
export const recentProbes = 100

/** The refusal of a test whose model nobody has priced. */
export const unpricedCode = 'channel.test_unpriced'

const [beforeModel = '', afterModel = ''] = errorRow(unpricedCode).message.split('{model}')

/** Without a price nothing was sent: the test says nothing of the channel or of the model. */
export const isUnpriced = (message: string): boolean => message.startsWith(beforeModel) && message.endsWith(afterModel)

/** What was sent and went wrong. */
export const hasFailed = (result: TestResult | undefined): boolean =>
  result?.success === false && result.code !== unpricedCode

const asResult = ({ success, message, durationMs, createdAt }: Probe): TestResult => ({
  success,
  message,
  seconds: durationMs / 1000,
  time: createdAt.getTime(),
  retryCount: 0,
  isRetryable: false,
  code: isUnpriced(message) ? unpricedCode : undefined,
})

/** The newest result of each model: of the tests that the server keeps, whoever made them, and of those of this browser. */
export function latestResults(
  own: Readonly<Record<string, TestResult>>,
  probes: readonly Probe[],
): Readonly<Record<string, TestResult>> {
  const latest = new Map(Object.entries(own))
  for (const probe of probes) {
    const known = latest.get(probe.model)
    if (!known || known.time < probe.createdAt.getTime()) latest.set(probe.model, asResult(probe))
  }
  return Object.fromEntries(latest)
}
