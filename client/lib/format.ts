import { formatQuota } from '#core/quota.ts'
import { locale } from '../i18n/language.ts'
import { t } from '../i18n/t.ts'
import { currentStatus } from './status.ts'

const cached = <Key extends string, Format>(make: (key: Key) => Format): ((key: Key) => Format) => {
  const made = new Map<Key, Format>()
  return (key) => {
    const known = made.get(key)
    if (known) return known
    const fresh = make(key)
    made.set(key, fresh)
    return fresh
  }
}

const integers = cached((language: string) => new Intl.NumberFormat(language, { maximumFractionDigits: 0 }))

/** `1,234,567` */
export const formatInteger = (value: number): string => integers(locale()).format(value)

/** Each begins where the step below it would round to a thousand. */
const steps = [
  { from: 999_500_000, unit: 'B', divisor: 1e9 },
  { from: 999_500, unit: 'M', divisor: 1e6 },
  { from: 10_000, unit: 'k', divisor: 1e3 },
]

function abbreviated(value: number, digitsOf: (scaled: number) => number): string {
  const step = steps.find(({ from }) => Math.abs(value) >= from)
  if (!step) return formatInteger(value)
  const scaled = value / step.divisor
  return `${Number(scaled.toFixed(digitsOf(Math.abs(scaled))))}${step.unit}`
}

/** Short from ten thousand on: `12.3k`, `4.5M`, `1.2B`. */
export const abbreviate = (value: number): string => abbreviated(value, (scaled) => (scaled >= 100 ? 0 : 1))

/** As short as a round number can be said exactly: `1.35M`, `112.5k`. */
export const abbreviateRound = (value: number): string => abbreviated(value, () => 3)

/** Quota as the site shows it: dollars, or bare units where currency display is off. */
export function quotaText(quota: number, digits = 2): string {
  const { quotaPerUnit, displayInCurrency } = currentStatus()
  if (!displayInCurrency) return formatInteger(quota)
  const text = formatQuota(quota, { quotaPerUnit, inCurrency: true, digits })
  const [integer = '', fraction] = text.split('.')
  const grouped = integer.replace(/\d+/, (number) => formatInteger(Number(number)))
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

const significant = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 5 })
const cents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** A price in dollars, however small: `$2.50`, `$0.075`, `$0.00000012`. Cents at the least, and never zero but for zero. */
export function priceText(dollars: number): string {
  const text = significant.format(Math.abs(dollars))
  const decimals = text.split('.')[1]?.length ?? 0
  return `${dollars < 0 ? '-' : ''}$${decimals > 2 ? text : cents.format(Math.abs(dollars))}`
}

/** Quota as the site shows it, exact where it is little: a difference is never shown as nothing. */
export function amountText(quota: number): string {
  const { quotaPerUnit, displayInCurrency } = currentStatus()
  return displayInCurrency ? priceText(quota / quotaPerUnit) : formatInteger(quota)
}

/** `320 ms` below a second, `4.2 s` below ten, `83 s` below two minutes, then minutes. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const rounded = Math.round(seconds)
  return rounded < 120 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}

const byteUnits = ['B', 'KB', 'MB', 'GB', 'TB']

/** `812 B`, `4.2 MB`, `120 GB`; a step is 1024. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < byteUnits.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${byteUnits[unit] ?? ''}`
}

export const formatPercent = (share: number, digits = 1): string => `${(share * 100).toFixed(digits)}%`

const exactTimes = cached(
  (language: string) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' }),
)
const relativeTimes = cached(
  (language: string) => new Intl.RelativeTimeFormat(language, { numeric: 'always', style: 'short' }),
)
/** Days have words of their own, `yesterday`; a month ago is not last month. */
const relativeDays = cached(
  (language: string) => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }),
)

/** The exact moment with its zone. */
export const formatExactTime = (time: Date): string => exactTimes(locale()).format(time)

const two = (value: number): string => String(value).padStart(2, '0')

/** `2026-11-21` in the reader's zone; the same in both languages, so that columns of dates line up. */
const formatDate = (time: Date): string =>
  `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`

/** The day that a vendor names, which is the same for readers of every zone: `2026-11-21`. */
export const formatDay = (midnightUtc: Date): string => midnightUtc.toISOString().slice(0, 10)

/** `2026-11-21 14:03:22` */
export const formatTime = (time: Date): string =>
  `${formatDate(time)} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`

const spans: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** The reader's own days, whatever hours a change of the clock takes from one. */
const calendarDay = (time: Date): number => Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()) / 86_400_000

/** `3 minutes ago`, `tomorrow`. */
export function formatRelativeTime(time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1000
  const span = spans.find(([, length]) => Math.abs(seconds) >= length)
  const format = (span?.[0] === 'day' || !span ? relativeDays : relativeTimes)(locale())
  if (!span) return format.format(Math.trunc(seconds), 'second')
  if (span[0] === 'day') return format.format(calendarDay(time) - calendarDay(now), 'day')
  return format.format(Math.trunc(seconds / span[1]), span[0])
}

const clockStepMs = 30_000

/**
 * The same for a page, whose clock goes by half minutes: within a minute its seconds would stand still, and what has happened since
 * its last step would be ahead. What is still to come (`ahead`) is never said to have been just now.
 */
export function formatAge(time: Date, now: Date, ahead = false): string {
  const passedMs = now.getTime() - time.getTime()
  if (passedMs >= 2 * clockStepMs || passedMs <= -clockStepMs) return formatRelativeTime(time, now)
  return ahead ? t('片刻后') : t('刚刚')
}
