import { useEffect, useRef } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import { confirm } from '../../../components/confirm.tsx'
import { notify } from '../../../components/notify.ts'
import { fill, inLanguage, t } from '../../../i18n/t.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'

export type Run = RouterOutputs['admin']['channels']['runs'][number]

const pauseMs = 1000

/** Work over all channels that the server does by itself, whoever looks on. */
export function useRuns() {
  const utils = trpc.useUtils()
  const api = utils.client.admin.channels
  const runs = trpc.admin.channels.runs.useQuery(undefined, {
    ...reportedWhenFailed,
    refetchInterval: ({ state }) => (state.data?.some(({ running }) => running) ? pauseMs : false),
  })
  const before = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const now = new Set(runs.data?.flatMap(({ name, running }) => (running ? [name] : [])))
    const over = runs.data?.filter(({ name }) => before.current.has(name) && !now.has(name)) ?? []
    before.current = now
    for (const { last } of over) {
      if (!last) continue
      const words = fill(inLanguage(last.text), last.params)
      if (last.failed) notify.error(words, t('任务失败'))
      else notify.success(words)
    }
    if (over.length > 0) void utils.admin.channels.invalidate()
  }, [runs.data, utils])

  const attempt = async (act: () => Promise<unknown>, failed: string, begun?: Run['name']) => {
    try {
      await act()
      // It may be over before it is ever seen to run.
      if (begun) before.current = new Set([...before.current, begun])
    } catch (error) {
      notify.error(error, failed)
    }
    await runs.refetch()
  }

  return {
    going: runs.data?.filter(({ running }) => running) ?? [],
    testAll: () =>
      confirm({
        title: t('测试所有渠道？'),
        body: t(
          '逐个发送一次很小的真实请求，包括已禁用的渠道。按照监控设置，响应过慢或密钥失效的渠道会被自动禁用，恢复正常的渠道会重新启用。',
        ),
        confirmLabel: t('开始测试'),
        run: () => attempt(() => api.testAll.mutate(), t('没有开始测试'), 'channel-tests'),
      }),
    updateBalances: () =>
      confirm({
        title: t('更新所有渠道的余额？'),
        body: t('向每个已启用且能报告余额的渠道查询。没有余额的渠道会被禁用。'),
        confirmLabel: t('开始更新'),
        run: () => attempt(() => api.startBalances.mutate(), t('没有开始更新'), 'channel-balances'),
      }),
    cancel: ({ name }: Pick<Run, 'name'>) =>
      attempt(
        () => api.cancelRun.mutate({ name: name === 'channel-tests' ? 'channel-tests' : 'channel-balances' }),
        t('任务没有停止'),
      ),
  }
}

export type Runs = ReturnType<typeof useRuns>
