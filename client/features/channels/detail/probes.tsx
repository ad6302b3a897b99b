import { Skeleton, Stack, Text, chakra } from '@chakra-ui/react'
import { ModelName } from '../../../components/cells/names.tsx'
import { Duration } from '../../../components/cells/numbers.tsx'
import { Time } from '../../../components/cells/time.tsx'
import { Status } from '../../../components/status.tsx'
import { t } from '../../../i18n/t.ts'
import { logText } from '../../../lib/log-text.ts'
import type { Probe } from '../tests/result-cache.ts'

const shownProbes = 20

const Row = chakra('li', {
  base: {
    display: 'grid',
    gridTemplateColumns: 'minmax(0, 1fr) 72px 64px 92px',
    columnGap: '3',
    py: '1.5',
    borderBottomWidth: '1px',
    borderColor: 'border.muted',
    '& > :not(:first-of-type)': { textAlign: 'end' },
  },
})

export function Probes({ probes, isLoading }: { probes: readonly Probe[]; isLoading: boolean }) {
  if (isLoading) return <Skeleton h="20" />
  if (probes.length === 0) {
    return (
      <Text textStyle="sm" color="fg.muted">
        {t('还没有测试过。')}
      </Text>
    )
  }
  return (
    <Stack as="ul" gap="0" listStyleType="none" textStyle="sm">
      {probes.slice(0, shownProbes).map((probe) => (
        <Row key={probe.id}>
          <ModelName name={probe.model} />
          <span>
            <Status tone={probe.success ? 'good' : 'bad'}>{probe.success ? t('成功') : t('失败')}</Status>
          </span>
          {/* What never got as far as the upstream took no time. */}
          <Duration milliseconds={probe.success ? probe.durationMs : probe.durationMs || undefined} />
          <Time value={probe.createdAt} />
          {!probe.success && (
            <Text gridColumn="1 / -1" textAlign="start" textStyle="xs" color="fg.muted" overflowWrap="anywhere">
              {logText(probe.message)}
            </Text>
          )}
        </Row>
      ))}
    </Stack>
  )
}
