import { Box, Flex, HStack, Stack, Text, chakra } from '@chakra-ui/react'
import { t } from '../../i18n/t.ts'
import { formatDuration } from '../../lib/format.ts'
import type { LogDetails } from './details.ts'

export type Span = { kind: 'gateway' | 'failed' | 'waiting' | 'answering'; ms: number }

/**
 * What the time of a call went to, in the order it went: the gateway's own part is what neither the failed attempts nor the
 * answering upstream took. Undefined where the upstream's part is not known.
 */
function spansOf(total: number, details: Pick<LogDetails, 'attempts' | 'upstreamMs' | 'firstTokenMs'>) {
  const { upstreamMs, firstTokenMs, attempts } = details
  if (upstreamMs === undefined) return undefined
  const failed = attempts.slice(0, -1).reduce((sum, attempt) => sum + attempt.ms, 0)
  const upstream = Math.min(upstreamMs, Math.max(total - failed, 0))
  const gateway = Math.max(total - failed - upstream, 0)
  const answering = firstTokenMs === null ? 0 : Math.min(Math.max(total - firstTokenMs, 0), upstream)
  const spans: Span[] = [
    { kind: 'gateway', ms: gateway },
    { kind: 'failed', ms: failed },
    { kind: 'waiting', ms: upstream - answering },
    { kind: 'answering', ms: answering },
  ]
  return spans.filter((span) => span.ms > 0 || span.kind === 'gateway')
}

const Part = chakra('div', {
  base: { h: 'full', minW: '2px' },
  variants: {
    kind: {
      gateway: { bg: 'fg.subtle' },
      failed: { bg: 'bad.mark' },
      waiting: { bg: 'accent.emphasized' },
      answering: { bg: 'accent.mark' },
    },
  },
})

const namesOf = (isSplit: boolean): Record<Span['kind'], string> => ({
  gateway: t('网关自身'),
  failed: t('失败的尝试'),
  waiting: isSplit ? t('上游：等待首字') : t('上游'),
  answering: t('上游：输出'),
})

/** The course of a call as one bar, the gateway's own time apart from the upstream's. */
export function Timeline({ total, details }: { total: number; details: LogDetails }) {
  const spans = spansOf(total, details)
  if (!spans) return null
  const names = namesOf(spans.some(({ kind }) => kind === 'answering'))
  return (
    <Stack gap="3" textStyle="sm">
      <Flex h="2.5" gap="1px" borderRadius="l1" overflow="hidden" bg="bg.muted" aria-hidden>
        {spans.map((span) => (
          <Part key={span.kind} kind={span.kind} style={{ flexGrow: span.ms, flexBasis: 0 }} />
        ))}
      </Flex>
      <Stack as="ul" gap="1.5" listStyleType="none">
        {spans.map((span) => (
          <HStack as="li" key={span.kind} justify="space-between" gap="4">
            <HStack gap="2">
              <Box w="2.5" h="2.5" borderRadius="xs" overflow="hidden" flexShrink="0">
                <Part kind={span.kind} />
              </Box>
              {names[span.kind]}
            </HStack>
            <Text fontVariantNumeric="tabular-nums">{formatDuration(span.ms)}</Text>
          </HStack>
        ))}
        <HStack as="li" justify="space-between" gap="4" borderTopWidth="1px" pt="1.5" fontWeight="medium">
          {t('总用时')}
          <Text fontVariantNumeric="tabular-nums">{formatDuration(total)}</Text>
        </HStack>
      </Stack>
    </Stack>
  )
}
