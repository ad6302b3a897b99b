import { HStack } from '@chakra-ui/react'
import { Count, Money } from '../../components/cells/numbers.tsx'
import { StatTag } from '../../components/stat-tag.tsx'
import { t } from '../../i18n/t.ts'
import { formatPercent } from '../../lib/format.ts'
import type { LogInput } from './use-logs.ts'
import { useLogStat } from './use-logs.ts'

/** Of all calls; attempts that failed before another channel answered are distinguished. */
function ErrorRate({ calls, failed }: { calls: number; failed: number }) {
  return calls + failed === 0 ? '–' : formatPercent(failed / (calls + failed))
}

/** What the filtered rows cost, and how busy the last minute was. */
type StatTagsProps = { input: LogInput; question: string; isReadable: boolean }

export function StatTags({ input, question, isReadable }: StatTagsProps) {
  const stat = useLogStat(input, { enabled: isReadable, question })
  const { isStale } = stat
  const data = isReadable ? stat.data : undefined
  // The table beside says why; here nothing is on its way any more.
  const missing = !isReadable || stat.isError ? '–' : undefined
  return (
    // On a phone they share their lines with what stands beside them.
    <HStack gap="2" display={{ base: 'contents', sm: 'flex' }} flexShrink="0">
      <StatTag label={t('消费')} isStale={isStale} tip={t('所选时间内的费用')}>
        {data ? <Money quota={data.quota} /> : missing}
      </StatTag>
      <StatTag
        label={t('错误率')}
        isStale={isStale}
        tip={data && t('失败的请求 {calls} 次，失败的尝试 {attempts} 次', data.failures)}
      >
        {data ? <ErrorRate calls={data.calls} failed={data.failures.calls} /> : missing}
      </StatTag>
      <StatTag label="RPM" isStale={isStale} tip={t('最近一分钟的调用次数')}>
        {data ? <Count value={data.rpm} /> : missing}
      </StatTag>
      <StatTag label="TPM" isStale={isStale} tip={t('最近一分钟的 Token 数')}>
        {data ? <Count value={data.tpm} /> : missing}
      </StatTag>
    </HStack>
  )
}
