import { Flex, Stack, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { t } from '../i18n/t.ts'
import { formatPercent } from '../lib/format.ts'
import { useStatus } from '../lib/status.ts'
import { Money } from './cells/numbers.tsx'
import { Time } from './cells/time.tsx'
import { Meter } from './charts/sparkline.tsx'

type Window = { period: 'rolling' | 'day' | 'week' | 'month'; seconds: number; zone: string }

export type SpendCapStanding = Window & {
  id: number
  models: readonly string[]
  limit: number
  spent: number
  left: number
  turnsAt: Date | null
  raise: { amount: number; until: Date } | null
}

const hour = 3600
const day = 24 * hour

/** Over how long a cap counts. */
export function windowWords({ period, seconds }: Pick<Window, 'period' | 'seconds'>): string {
  switch (period) {
    case 'day':
      return t('每天')
    case 'week':
      return t('每周')
    case 'month':
      return t('每月')
    case 'rolling':
      return seconds <= day
        ? t('任意 {count} 小时', { count: seconds / hour })
        : t('任意 {count} 天', { count: seconds / day })
  }
}

/** Of a cap below ten cents two decimals would show nothing. */
const digitsOf = (limit: number, quotaPerUnit: number): number => (limit < quotaPerUnit / 10 ? 6 : 2)

/** One cap: what is spent of it, and when it turns. */
export function SpendCap({ cap, action }: { cap: SpendCapStanding; action?: ReactNode }) {
  const digits = digitsOf(cap.limit, useStatus().quotaPerUnit)
  const share = cap.limit === 0 ? 1 : cap.spent / cap.limit
  const models =
    cap.models.length === 0 ? '' : ` · ${cap.models.slice(0, 2).join(', ')}${cap.models.length > 2 ? ' …' : ''}`
  return (
    <Stack gap="1" minW="0">
      <Flex justify="space-between" gap="3" textStyle="sm" wrap="wrap">
        <Text as="span" truncate>
          {cap.period !== 'rolling' && cap.zone !== 'UTC'
            ? t('{window}（{zone}）', { window: windowWords(cap), zone: cap.zone })
            : windowWords(cap)}
          {models}
        </Text>
        <Text as="span" flexShrink="0">
          <Money quota={cap.spent} digits={digits} /> / <Money quota={cap.limit} digits={digits} />
        </Text>
      </Flex>
      <Meter share={share} label={t('已用 {share}', { share: formatPercent(share, 0) })} />
      <Flex justify="space-between" gap="3" textStyle="xs" color="fg.muted" wrap="wrap">
        <span>
          {t('还剩')} <Money quota={cap.left} digits={digits} />
        </span>
        {cap.turnsAt && (
          <span>
            {cap.period === 'rolling' ? t('恢复时间') : t('重置时间')} <Time value={cap.turnsAt} ahead />
          </span>
        )}
      </Flex>
      {(cap.raise || action) && (
        <Flex justify="space-between" align="center" gap="3" textStyle="xs" color="fg.muted">
          <span>
            {cap.raise && (
              <>
                {t('临时提高，到期时间')} <Time value={cap.raise.until} ahead />
              </>
            )}
          </span>
          {action}
        </Flex>
      )}
    </Stack>
  )
}

type SpendCapsProps = { caps: readonly SpendCapStanding[]; actionOf?: (cap: SpendCapStanding) => ReactNode }

/** All caps of a token or an account, the tightest first. */
export function SpendCaps({ caps, actionOf }: SpendCapsProps) {
  const share = (cap: SpendCapStanding) => (cap.limit === 0 ? 1 : cap.spent / cap.limit)
  return (
    <Stack gap="3">
      {caps
        .toSorted((one, other) => share(other) - share(one))
        .map((cap) => (
          <SpendCap key={cap.id} cap={cap} action={actionOf?.(cap)} />
        ))}
    </Stack>
  )
}
