const hourMs = 3_600_000
const dayMs = 24 * hourMs

export const intervals = ['hour', 'day', 'week'] as const
export type Interval = (typeof intervals)[number]

/** More bars than this cannot be distinguished. */
const mostBars = 120

const lengths: Record<Interval, number> = { hour: hourMs, day: dayMs, week: 7 * dayMs }

/** The requested interval, or the next longer one that still gives bars wide enough to read. */
export function readableInterval(requested: Interval, span: number): Interval {
  const possible = intervals.slice(intervals.indexOf(requested))
  return possible.find((interval) => span / lengths[interval] <= mostBars) ?? 'week'
}

/** Days begin at the reader's midnight and weeks on Monday, as the server groups them; hours are those of UTC. */
function startOf(time: Date, interval: Interval): Date {
  if (interval === 'hour') return new Date(Math.floor(time.getTime() / hourMs) * hourMs)
  const back = interval === 'week' ? (time.getDay() + 6) % 7 : 0
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() - back)
}

/** By the calendar, for a day may have 23 or 25 hours. */
export function nextStart(start: Date, interval: Interval): Date {
  if (interval === 'hour') return new Date(start.getTime() + hourMs)
  const days = interval === 'week' ? 7 : 1
  return new Date(start.getFullYear(), start.getMonth(), start.getDate() + days)
}

const fullHour = (time: Date): Date => new Date(Math.ceil(time.getTime() / hourMs) * hourMs)

/** The hours that a bar adds up: those that begin in it. They are whole also where days begin in the middle of one. */
export const hoursOfBar = (start: Date, interval: Interval): { from: Date; until: Date } => ({
  from: fullHour(start),
  until: fullHour(nextStart(start, interval)),
})

/** The moment by which a bar is known: where clocks go back at midnight, the server begins that day at the second of two, the page at the first. */
export const barOf = (time: Date, interval: Interval): number => startOf(time, interval).getTime()

/** Where each bar of the axis begins, those without calls included. */
export function bucketsBetween(from: Date, until: Date, interval: Interval): Date[] {
  const starts: Date[] = []
  for (let start = startOf(from, interval); start < until; start = nextStart(start, interval)) starts.push(start)
  return starts
}

const two = (value: number): string => String(value).padStart(2, '0')
const dayOf = (time: Date): string => `${two(time.getMonth() + 1)}-${two(time.getDate())}`

export function bucketLabel(start: Date, interval: Interval, span: number): string {
  if (interval !== 'hour') return dayOf(start)
  const hour = `${two(start.getHours())}:${two(start.getMinutes())}`
  return span <= dayMs + hourMs ? hour : `${dayOf(start)} ${hour}`
}
