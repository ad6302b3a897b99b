import { Input, Stack, Text } from '@chakra-ui/react'
import { useEffect, useState } from 'react'
import { confirm } from '../../components/confirm.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { fromLocalInput, toLocalInput } from '../../lib/local-time.ts'
import { monthBefore } from '../../lib/time-range.ts'
import { trpc } from '../../lib/trpc.ts'

const pauseMs = 1000

/** Rows that a run has removed leave the page once it is over. `watch` from when it was started on. */
function useRemovedRows(): { watch: () => void } {
  const utils = trpc.useUtils()
  const [startedAt, setStartedAt] = useState<number>()
  const { data, dataUpdatedAt } = trpc.admin.logs.clearing.useQuery(undefined, {
    enabled: startedAt !== undefined,
    refetchInterval: pauseMs,
    staleTime: 0,
  })
  const isOver = startedAt !== undefined && dataUpdatedAt >= startedAt && !data?.running
  useEffect(() => {
    if (!isOver) return
    setStartedAt(undefined)
    void utils.admin.logs.invalidate()
  }, [isOver, utils])
  return { watch: () => setStartedAt(Date.now()) }
}

/** Removes old rows for good. Asks until when, and for the log's name. */
export function useClearLogs(): () => Promise<void> {
  const utils = trpc.useUtils()
  const { watch } = useRemovedRows()
  const clear = trpc.admin.logs.startClearing.useMutation()
  return async () => {
    const chosen = { before: toLocalInput(monthBefore(new Date())) }
    await confirm({
      title: t('清理旧日志'),
      body: (
        <Stack gap="3">
          <Text>{t('早于下列时间的日志会被永久删除。余额、用量统计和账单不受影响。')}</Text>
          <Input
            type="datetime-local"
            aria-label={t('清理早于此时间的日志')}
            defaultValue={chosen.before}
            onChange={(event) => {
              chosen.before = event.target.value
            }}
          />
        </Stack>
      ),
      confirmLabel: t('永久删除'),
      danger: true,
      failed: (reason) => t('日志清理失败：{reason}', { reason }),
      typeToConfirm: t('使用日志'),
      run: async () => {
        const before = fromLocalInput(chosen.before)
        if (!before) throw new Error(t('请选择时间'))
        await clear.mutateAsync({ before })
        await utils.admin.logs.clearing.invalidate()
        watch()
        notify.info(t('日志正在后台清理，进度见系统设置的日志设置'))
      },
    })
  }
}
