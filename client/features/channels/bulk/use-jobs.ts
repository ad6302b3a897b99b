import { useState } from 'react'
import { balanceText } from '#core/balance-text.ts'
import { t } from '../../../i18n/t.ts'
import { errorText, refusalCode } from '../../../lib/errors.ts'
import { formatDuration } from '../../../lib/format.ts'
import { trpc } from '../../../lib/trpc.ts'
import { unpricedCode } from '../tests/result-cache.ts'
import type { Job } from './job-dialog.tsx'

type Named = { id: number; name: string }

/** The model whose missing price refused a call. */
function unpricedModelIn(error: unknown): string | undefined {
  if (refusalCode(error) !== unpricedCode) return undefined
  const { params } = (error as { data: { params?: Record<string, string | number> } }).data
  return params?.['model'] === undefined ? undefined : String(params['model'])
}

/** Work over the selected channels: tests with each one's own test model, and balances. */
export function useJobs() {
  const utils = trpc.useUtils()
  const api = utils.client.admin.channels
  const [job, setJob] = useState<Job>()

  const test = (channels: readonly Named[]) =>
    setJob({
      title: t('测试 {count} 个渠道', { count: channels.length }),
      channels,
      act: async ({ id }, signal) => {
        try {
          const result = await api.probe.mutate({ id }, { signal, context: { alone: true } })
          return result.success
            ? { ok: true, text: formatDuration(result.seconds * 1000) }
            : { ok: false, text: `${result.model}: ${result.message}` }
        } catch (error) {
          return { ok: false, text: errorText(error), unpriced: unpricedModelIn(error) }
        }
      },
    })

  const updateBalances = (channels: readonly Named[]) =>
    setJob({
      title: t('更新 {count} 个渠道的余额', { count: channels.length }),
      channels,
      act: async ({ id }, signal) => {
        try {
          const { balance, currency } = await api.updateBalance.mutate({ id }, { signal, context: { alone: true } })
          return { ok: true, text: balanceText(balance, currency) }
        } catch (error) {
          return { ok: false, text: errorText(error) }
        }
      },
    })

  return {
    job,
    close: () => {
      setJob(undefined)
      void utils.admin.channels.invalidate()
    },
    test,
    updateBalances,
  }
}

export type Jobs = ReturnType<typeof useJobs>
