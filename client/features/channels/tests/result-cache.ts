import type { Store } from '../../../lib/store.ts'
import { createStoredJson } from '../../../lib/stored.ts'
import type { TestResult } from './run-tests.ts'

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
