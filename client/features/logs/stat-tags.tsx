import { HStack, Skeleton, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { Count, Money } from '../../components/cells/numbers.tsx'
import { t } from '../../i18n/t.ts'
import type { LogInput } from './use-logs.ts'
import { useLogStat } from './use-logs.ts'

function Tag({ label, tip, children }: { label: string; tip?: string; children: ReactNode }) {
  return (
    <HStack gap="1.5" px="2.5" h="7" borderWidth="1px" borderRadius="l2" bg="bg.panel" textStyle="sm" data-tip={tip}>
      <Text as="span" color="fg.muted">
        {label}
      </Text>
      <Text as="span" fontWeight="medium" minW="6" fontVariantNumeric="tabular-nums">
        {children}
      </Text>
    </HStack>
  )
}

/** What the filtered rows cost, and how busy the last minute was. */
export function StatTags({ input }: { input: LogInput }) {
  const { data } = useLogStat(input)
  const wait = <Skeleton h="3" w="8" />
  return (
    <HStack gap="2" wrap="wrap" flexShrink="0">
      <Tag label={t('消费')} tip={t('所选时间内的费用')}>
        {data ? <Money quota={data.quota} /> : wait}
      </Tag>
      <Tag label="RPM" tip={t('最近一分钟的调用次数')}>
        {data ? <Count value={data.rpm} /> : wait}
      </Tag>
      <Tag label="TPM" tip={t('最近一分钟的 Token 数')}>
        {data ? <Count value={data.tpm} /> : wait}
      </Tag>
    </HStack>
  )
}
