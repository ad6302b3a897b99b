import { Box, Button, Flex, HStack, Progress, Skeleton, Stack, Text } from '@chakra-ui/react'
import { Play, Square } from 'lucide-react'
import type { RouterOutputs } from '#server/app-router.ts'
import { jobLabel } from '#core/jobs.ts'
import { Duration } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { notify } from '../../components/notify.ts'
import { ErrorState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { inLanguage, t } from '../../i18n/t.ts'
import { jobResultText } from '../../lib/job-text.ts'
import { trpc } from '../../lib/trpc.ts'
import { SectionFrame } from './section-frame.tsx'

type Job = RouterOutputs['admin']['jobs']['list'][number]

/** It has its own place, which shows until when. */
const ordered = 'log-clearing'

const [runningPauseMs, idlePauseMs] = [1000, 10_000]

/** What the product does by itself, how that went, and when it comes again. */
export function Jobs() {
  const jobs = trpc.admin.jobs.list.useQuery(undefined, {
    refetchInterval: ({ state }) => (state.data?.some(({ running }) => running) ? runningPauseMs : idlePauseMs),
  })
  return (
    <SectionFrame title={t('定时任务')}>
      {jobs.data ? (
        <Stack as="ul" gap="0" listStyleType="none" aria-label={t('定时任务')}>
          {jobs.data
            .filter(({ name }) => name !== ordered)
            .map((job) => (
              <Line key={job.name} job={job} onChanged={() => jobs.refetch()} />
            ))}
        </Stack>
      ) : jobs.error ? (
        <ErrorState error={jobs.error} onRetry={() => void jobs.refetch()} />
      ) : (
        <Stack gap="3" aria-hidden>
          {[1, 2, 3, 4].map((line) => (
            <Skeleton key={line} h="12" />
          ))}
        </Stack>
      )}
    </SectionFrame>
  )
}

function Line({ job, onChanged }: { job: Job; onChanged: () => Promise<unknown> }) {
  const { name, running } = job
  const label = inLanguage(jobLabel(name))
  const run = trpc.admin.jobs.run.useMutation()
  const cancel = trpc.admin.jobs.cancel.useMutation()
  const attempt = async (act: typeof run, failed: string) => {
    try {
      await act.mutateAsync({ name })
    } catch (error) {
      notify.error(error, failed)
    }
    await onChanged()
  }
  return (
    <Flex
      as="li"
      gap="4"
      py="3"
      align="flex-start"
      borderBottomWidth="1px"
      borderColor="border.muted"
      _first={{ pt: '0' }}
      _last={{ borderBottomWidth: '0' }}
    >
      <Stack gap="1" flex="1" minW="0" textStyle="sm">
        <HStack gap="2" wrap="wrap" columnGap="2" rowGap="0">
          <Text fontWeight="medium">{label}</Text>
          <Text color="fg.muted" textStyle="xs">
            {intervalText(job.everySeconds)}
          </Text>
        </HStack>
        {running && <Running label={label} running={running} />}
        <Last last={job.last} />
        {job.nextAt && !running && (
          <Text color="fg.muted" textStyle="xs">
            {t('下次运行')} <Time value={job.nextAt} exact />
          </Text>
        )}
      </Stack>
      {running ? (
        <Button
          size="xs"
          loading={cancel.isPending || running.ending}
          aria-label={t('停止 {name}', { name: label })}
          onClick={() => void attempt(cancel, t('任务没有停止'))}
        >
          <Square aria-hidden />
          {t('停止')}
        </Button>
      ) : (
        <Button
          size="xs"
          loading={run.isPending}
          aria-label={t('立即运行 {name}', { name: label })}
          onClick={() => void attempt(run, t('任务没有运行'))}
        >
          <Play aria-hidden />
          {t('立即运行')}
        </Button>
      )}
    </Flex>
  )
}

function Running({ label, running }: { label: string; running: NonNullable<Job['running']> }) {
  const { done, total, since } = running
  return (
    <Stack gap="1">
      <HStack gap="2" color="fg.muted" role="status">
        <Status tone="accent">{t('正在运行')}</Status>
        {total > 0 && <Box fontVariantNumeric="tabular-nums">{`${done} / ${total}`}</Box>}
        <Time value={since} exact />
      </HStack>
      {total > 0 && (
        <Progress.Root size="xs" value={done} max={total} maxW="xs">
          <Progress.Track aria-label={label}>
            <Progress.Range />
          </Progress.Track>
        </Progress.Root>
      )}
    </Stack>
  )
}

function Last({ last }: { last: Job['last'] }) {
  if (!last) return <Text color="fg.subtle">{t('尚未运行')}</Text>
  return (
    <Stack gap="0.5">
      <Text overflowWrap="anywhere">{jobResultText(last)}</Text>
      <HStack gap="2" color="fg.muted" textStyle="xs" wrap="wrap">
        <Status tone={last.failed ? 'bad' : 'good'}>{last.failed ? t('失败') : t('成功')}</Status>
        <Time value={last.startedAt} exact />
        <Duration milliseconds={last.durationMs} />
      </HStack>
    </Stack>
  )
}

function intervalText(seconds: number): string {
  if (seconds <= 0) return t('仅手动运行')
  if (seconds % 86_400 === 0) return t('每 {count} 天', { count: seconds / 86_400 })
  if (seconds % 3600 === 0) return t('每 {count} 小时', { count: seconds / 3600 })
  return seconds % 60 === 0 ? t('每 {count} 分钟', { count: seconds / 60 }) : t('每 {count} 秒', { count: seconds })
}
