import { Box, Button, HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import { Link } from 'wouter'
import { jobLabel } from '#core/jobs.ts'
import { Duration } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { Section } from '../../components/facts.tsx'
import { ErrorState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { inLanguage, t } from '../../i18n/t.ts'
import { jobResultText } from '../../lib/job-text.ts'
import { useLastCount } from '../../lib/last-count.ts'
import { createStoredJson } from '../../lib/stored.ts'
import { trpc } from '../../lib/trpc.ts'
import { Line, Lines } from './lines.tsx'

const refreshMs = 5000

const lastJobs = createStoredJson('system-jobs', 12)

/** Every job with how it went and when it comes again; they are started and stopped in the settings. */
export function Jobs() {
  const jobs = trpc.admin.jobs.list.useQuery(undefined, { refetchInterval: refreshMs })
  const lastCount = useLastCount(lastJobs, jobs.data?.length)
  return (
    <Section
      title={t('定时任务')}
      extra={
        <Button size="xs" variant="ghost" asChild>
          <Link href="/admin/settings?tab=operation">{t('管理定时任务')}</Link>
        </Button>
      }
    >
      {jobs.data ? (
        <Lines>
          {jobs.data.map(({ name, running, last, nextAt }) => (
            <Line key={name} display="flex" justifyContent="space-between" gap="4" textStyle="sm">
              <Box minW="0">
                <Text fontWeight="medium">{inLanguage(jobLabel(name))}</Text>
                <Text color="fg.muted" textStyle="xs" overflowWrap="anywhere">
                  {last ? jobResultText(last) : t('尚未运行')}
                </Text>
              </Box>
              <Stack gap="0.5" align="flex-end" flexShrink="0" textStyle="xs" color="fg.muted">
                <HStack gap="2">
                  {running ? (
                    <Status tone="accent">{t('正在运行')}</Status>
                  ) : last?.failed ? (
                    <Status tone="bad">{t('失败')}</Status>
                  ) : (
                    last && <Status tone="good">{t('成功')}</Status>
                  )}
                  {last && <Duration milliseconds={last.durationMs} />}
                </HStack>
                {nextAt && !running && (
                  <span>
                    {t('下次运行')} <Time value={nextAt} ahead />
                  </span>
                )}
              </Stack>
            </Line>
          ))}
        </Lines>
      ) : jobs.error ? (
        <ErrorState error={jobs.error} onRetry={() => void jobs.refetch()} />
      ) : (
        // As high as its lines will be, where these are not wrapped.
        <Skeleton h={`${lastCount * 57}px`} aria-busy />
      )}
    </Section>
  )
}
