const day = 86_400_000
const hour = 3_600_000

/** Ranges that move with the clock; `today` begins at the reader's midnight. */
export const rangePresets = ['1h', 'today', '24h', '7d', '30d'] as const
export type RangePreset = (typeof rangePresets)[number]

export type TimeRange = { from: Date; to: Date }

const lengths: Record<Exclude<RangePreset, 'today'>, number> = {
  '1h': hour,
  '24h': day,
  '7d': 7 * day,
  '30d': 30 * day,
}

export const isRangePreset = (text: string): text is RangePreset => rangePresets.some((preset) => preset === text)

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000)

/** When the day of a moment began where the reader is. */
export const midnight = (time: Date): Date => new Date(time.getFullYear(), time.getMonth(), time.getDate())

/** What an address says: a preset, or two times in unix seconds. Undefined where it says nothing that can be read. */
export function parseRange(text: string, now: Date): TimeRange | undefined {
  if (text === 'today') return { from: midnight(now), to: now }
  // An address written of it knows no parts of a second.
  if (isRangePreset(text) && text !== 'today') return { from: new Date(seconds(now) * 1000 - lengths[text]), to: now }
  const [, from, to] = /^(\d{1,11})-(\d{1,11})$/.exec(text) ?? []
  if (from === undefined || to === undefined || Number(from) >= Number(to)) return undefined
  return { from: new Date(Number(from) * 1000), to: new Date(Number(to) * 1000) }
}

export const formatRange = ({ from, to }: TimeRange): string => `${seconds(from)}-${seconds(to)}`

/** The last moment of what an address says: a preset goes on until now, a chosen range ends before its second time. */
export const lastMomentOf = (text: string, { to }: TimeRange): Date =>
  isRangePreset(text) ? to : new Date(to.getTime() - 1)

/** The address of everything between two moments, both included. */
export const rangeThrough = (first: Date, last: Date): string =>
  formatRange({ from: first, to: new Date(last.getTime() + 1000) })

/** The same time of day a month before; the last day of a month that is too short for it. */
export function monthBefore(time: Date): Date {
  const lastDay = new Date(time.getFullYear(), time.getMonth(), 0).getDate()
  const before = new Date(time)
  before.setMonth(time.getMonth() - 1, Math.min(time.getDate(), lastDay))
  return before
}

export const isNewYearsDay = (time: Date): boolean => time.getMonth() === 0 && time.getDate() === 1
