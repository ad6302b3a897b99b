import { Button, HStack, Progress, Stack, Text } from '@chakra-ui/react'
import { useEffect, useRef } from 'react'
import { Status } from '../../components/status.tsx'
import { notify } from '../../components/notify.ts'
import { fill, inLanguage, t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'

const pauseMs = 1000

/** The run that clears the log, which goes on when the page is left. */
export function useClearing() {
  const query = trpc.admin.logs.clearing.useQuery(undefined, {
    ...reportedWhenFailed,
    refetchInterval: ({ state }) => (state.data?.running ? pauseMs : false),
    staleTime: 0,
  })
  return { run: query.data ?? null, refetch: query.refetch }
}

/** How far it is, with a way to end it; what came of the last one. */
export function ClearingProgress() {
  const { run, refetch } = useClearing()
  const cancel = trpc.admin.logs.cancelClearing.useMutation()
  const utils = trpc.useUtils()
  const wasRunning = useRef(false)
  const isRunning = run?.running !== null && run !== null
  useEffect(() => {
    if (wasRunning.current && !isRunning) void utils.admin.logs.invalidate()
    wasRunning.current = isRunning
  }, [isRunning, utils])
  if (!run) return null
  if (!run.running) {
    const outcome = run.last && fill(inLanguage(run.last.text), run.last.params)
    return outcome ? (
      <Text textStyle="xs" color="fg.muted" role="status">
        {run.last?.failed ? t('日志清理失败：{reason}', { reason: outcome }) : outcome}
      </Text>
    ) : null
  }
  const { done, total, ending } = run.running
  const stop = async () => {
    try {
      await cancel.mutateAsync()
    } catch (error) {
      notify.error(error, t('任务没有停止'))
    }
    await refetch()
  }
  return (
    <Stack gap="1.5" maxW="sm" role="status">
      <HStack gap="2" textStyle="sm">
        <Status tone="accent">{t('正在清理')}</Status>
        <Text flex="1" fontVariantNumeric="tabular-nums">
          {total > 0 && `${formatInteger(done)} / ${formatInteger(total)}`}
        </Text>
        <Button size="xs" loading={ending || cancel.isPending} onClick={() => void stop()}>
          {t('停止')}
        </Button>
      </HStack>
      <Progress.Root size="xs" value={total > 0 ? done : null} max={Math.max(1, total)}>
        <Progress.Track aria-label={t('清理历史日志')}>
          <Progress.Range />
        </Progress.Track>
      </Progress.Root>
    </Stack>
  )
}
