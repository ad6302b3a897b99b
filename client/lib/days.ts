/** Midnights of the reader's last days, today's last. */
export const daysUpTo = (now: Date, count: number): Date[] =>
  Array.from(
    { length: count },
    (_, index) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - (count - 1 - index)),
  )

type Point = { time: Date; models: readonly { quota: number }[] }

const dayOf = (time: Date): string => time.toDateString()

/** One sum for each day, also for those on which nothing happened. */
export function sumByDay(points: readonly Point[], days: readonly Date[]): number[] {
  const sums = new Map<string, number>()
  for (const { time, models } of points) {
    sums.set(
      dayOf(time),
      models.reduce((sum, { quota }) => sum + quota, sums.get(dayOf(time)) ?? 0),
    )
  }
  return days.map((day) => sums.get(dayOf(day)) ?? 0)
}
