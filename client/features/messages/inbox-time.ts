import { locale } from '../../i18n/language.ts'
import { formatTime } from '../../lib/format.ts'

const dayMs = 86_400_000

const withLocale = (options: Intl.DateTimeFormatOptions, time: Date): string =>
  new Intl.DateTimeFormat(locale(), { ...options, hourCycle: 'h23' }).format(time)

/** The time within a day, the weekday with it within a week, the date before that. */
export function inboxTime(time: Date, now: Date): string {
  const age = now.getTime() - time.getTime()
  if (age < dayMs) return withLocale({ hour: '2-digit', minute: '2-digit' }, time)
  if (age < 7 * dayMs) return withLocale({ weekday: 'short', hour: '2-digit', minute: '2-digit' }, time)
  return formatTime(time).slice(0, 16)
}
