import { chakra } from '@chakra-ui/react'
import { useStatus } from '../../lib/status.ts'
import { abbreviate, formatDuration, formatInteger, quotaText } from '../../lib/format.ts'
import { t } from '../../i18n/t.ts'
import type { Tone } from '../status.tsx'

const Value = chakra('span', { base: { fontVariantNumeric: 'tabular-nums' } })
const Nothing = chakra('span', { base: { color: 'fg.subtle' } })

/** What stands where there is no value. */
export function None() {
  return <Nothing aria-label={t('无')}>–</Nothing>
}

/** Quota as money; the exact units on hover. */
export function Money({ quota, digits = 2 }: { quota: number | null | undefined; digits?: number }) {
  const { displayInCurrency } = useStatus()
  if (quota === null || quota === undefined) return <None />
  const units = t('{count} 额度', { count: formatInteger(quota) })
  return (
    <Value data-tip={displayInCurrency ? `${quotaText(quota, 6)}\n${units}` : units}>{quotaText(quota, digits)}</Value>
  )
}

/** Short from ten thousand on; the exact number on hover. */
export function Count({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <None />
  const short = abbreviate(value)
  const exact = formatInteger(value)
  return <Value data-tip={short === exact ? undefined : exact}>{short}</Value>
}

const toneColors: Partial<Record<Tone, string>> = { good: 'good.fg', warning: 'warning.fg', bad: 'bad.fg' }

type DurationProps = {
  milliseconds: number | null | undefined
  /** How the time is rated, where it is. */
  tone?: Tone | undefined
}

export function Duration({ milliseconds, tone }: DurationProps) {
  if (milliseconds === null || milliseconds === undefined) return <None />
  return <Value color={tone && toneColors[tone]}>{formatDuration(milliseconds)}</Value>
}
