import { Button, Field, HStack, Input } from '@chakra-ui/react'
import { useState } from 'react'
import { confirm } from '../../components/confirm.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { formatTime } from '../../lib/format.ts'
import { fromLocalInput, toLocalInput } from '../../lib/local-time.ts'
import { monthBefore } from '../../lib/time-range.ts'
import { trpc } from '../../lib/trpc.ts'
import { ClearingProgress, useClearing } from './clearing-progress.tsx'

/** Removes what the usage log holds from before a moment. */
export function LogClearing() {
  const [before, setBefore] = useState<Date | null>(() => monthBefore(new Date()))
  const clear = trpc.admin.logs.startClearing.useMutation()
  const { run, refetch } = useClearing()
  const ask = async () => {
    if (!before) return notify.error(t('请选择日志清理时间'))
    await confirm({
      title: t('清理 {time} 之前的日志？', { time: formatTime(before) }),
      body: t('日志删除后无法恢复；余额和已用额度不受影响。'),
      confirmLabel: t('清理日志'),
      danger: true,
      failed: (reason) => t('日志清理失败：{reason}', { reason }),
      run: async () => {
        await clear.mutateAsync({ before })
        await refetch()
      },
    })
  }
  return (
    <Field.Root maxW="sm">
      <Field.Label>{t('清理历史日志')}</Field.Label>
      <HStack w="full">
        <Input
          type="datetime-local"
          value={before ? toLocalInput(before) : ''}
          onChange={(event) => setBefore(fromLocalInput(event.target.value))}
        />
        <Button colorPalette="bad" variant="surface" disabled={run?.running != null} onClick={() => void ask()}>
          {t('清理')}
        </Button>
      </HStack>
      <Field.HelperText>{t('删除此时间之前的全部日志')}</Field.HelperText>
      <ClearingProgress />
    </Field.Root>
  )
}
