import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { notify } from '../../../components/notify.ts'
import { t } from '../../../i18n/t.ts'
import { errorText, mayRetry, refusalCode } from '../../../lib/errors.ts'
import { useNow } from '../../../lib/now.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { useStore } from '../../../lib/store.ts'
import { createStoredJson } from '../../../lib/stored.ts'
import { trpc } from '../../../lib/trpc.ts'
import { freshResults, latestResults, recentProbes, storedResults, withResult } from './result-cache.ts'
import type { Attempt, TestResult } from './run-tests.ts'
import { concurrencyLimits, runTests } from './run-tests.ts'

const storedConcurrency = createStoredJson<number>('channel-test-concurrency', concurrencyLimits.preset)

export type Progress = { done: number; total: number }

/** A wait that ends early when it is called off. */
const waitFor = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })

/** Tests the models of a channel from here; leaving the page calls it off. */
export function useTestRun(channelId: number) {
  const utils = trpc.useUtils()
  const cache = useStore(storedResults)
  const concurrency = useStore(storedConcurrency)
  const [running, setRunning] = useState<ReadonlySet<string>>(new Set())
  const [progress, setProgress] = useState<Progress>()
  const abort = useRef<AbortController>(undefined)
  const retrying = useRef(false)
  const now = useNow().getTime()
  const health = trpc.admin.channels.health.useQuery({ ids: [channelId], limit: recentProbes }, reportedWhenFailed)
  const probes = health.data?.[0]?.probes
  const results = useMemo(
    () => latestResults(freshResults(cache, now)[channelId] ?? {}, probes ?? []),
    [cache, now, channelId, probes],
  )
  useEffect(() => () => abort.current?.abort(), [channelId])

  const attempt = async (model: string, signal: AbortSignal): Promise<Attempt> => {
    try {
      const input = { id: channelId, model }
      const options = { signal, context: { alone: true } }
      const { success, message, seconds, retryable } = await utils.client.admin.channels.probe.mutate(input, options)
      return { success, message, seconds, isRetryable: retryable }
    } catch (error) {
      const code = refusalCode(error)
      const message = errorText(error)
      return {
        success: false,
        // A refusal speaks for itself; what kept the request from being answered does not say what was asked.
        message: code === undefined ? t('测试请求失败：{reason}', { reason: message }) : message,
        seconds: 0,
        isRetryable: code === undefined && mayRetry(error),
        code,
      }
    }
  }

  const mark = (model: string, on: boolean) =>
    setRunning((before) => {
      const next = new Set(before)
      if (on) next.add(model)
      else next.delete(model)
      return next
    })

  const start = async (models: readonly string[], isRetry = false) => {
    retrying.current = isRetry
    const controller = new AbortController()
    abort.current?.abort()
    abort.current = controller
    const { signal } = controller
    setProgress({ done: 0, total: models.length })
    await runTests({
      models,
      concurrency,
      attempt: (model) => attempt(model, signal),
      wait: (milliseconds) => waitFor(milliseconds, signal),
      now: Date.now,
      isCancelled: () => signal.aborted,
      onStart: (model) => mark(model, true),
      onResult: (model, result: TestResult) => {
        mark(model, false)
        setProgress((before) => before && { ...before, done: before.done + 1 })
        storedResults.set(withResult(freshResults(storedResults.get(), Date.now()), { channelId, model, result }))
      },
    })
    if (abort.current !== controller) return
    setRunning(new Set())
    setProgress(undefined)
    await Promise.all([utils.admin.channels.list.invalidate(), utils.admin.channels.health.invalidate()])
  }

  return {
    /** Nobody knows yet what was tested before. */
    isPending: health.isPending,
    results,
    running,
    progress,
    concurrency,
    setConcurrency: storedConcurrency.set,
    start,
    cancel: useCallback(() => {
      abort.current?.abort()
      notify.info(retrying.current ? t('重试被用户取消') : t('测试被用户取消'))
    }, []),
  }
}

export type TestRun = ReturnType<typeof useTestRun>
