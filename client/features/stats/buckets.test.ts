import { describe, expect, test } from 'vitest'
import { bucketLabel, bucketsBetween, hoursOfBar, nextStart, readableInterval } from './buckets.ts'

const hour = 3_600_000
const day = 24 * hour

describe('the axis of the dashboard', () => {
  test('has a bar for every hour of the range, with calls or without', () => {
    const from = new Date('2026-11-20T22:00:00Z')
    const starts = bucketsBetween(from, new Date(from.getTime() + 5 * hour), 'hour')
    expect(starts.map((start) => start.getTime() - from.getTime())).toEqual([0, hour, 2 * hour, 3 * hour, 4 * hour])
  })

  test('begins days at midnight and weeks on Monday', () => {
    const saturday = new Date(2026, 10, 21, 15, 30)
    expect(bucketsBetween(saturday, new Date(2026, 10, 21, 16), 'day')).toEqual([new Date(2026, 10, 21)])
    expect(bucketsBetween(saturday, new Date(2026, 10, 24), 'week')).toEqual([
      new Date(2026, 10, 16),
      new Date(2026, 10, 23),
    ])
    const sunday = new Date(2026, 10, 22, 1)
    expect(bucketsBetween(sunday, new Date(2026, 10, 22, 2), 'week')).toEqual([new Date(2026, 10, 16)])
  })

  test('goes from day to day by the calendar', () => {
    expect(nextStart(new Date(2026, 11, 31), 'day')).toEqual(new Date(2027, 0, 1))
    expect(nextStart(new Date(2026, 11, 28), 'week')).toEqual(new Date(2027, 0, 4))
  })

  test('leads to the very hours that a bar adds up, also where days begin in the middle of an hour', () => {
    const hourStart = new Date(Date.UTC(2026, 10, 20, 18))
    expect(hoursOfBar(hourStart, 'hour')).toEqual({ from: hourStart, until: new Date(Date.UTC(2026, 10, 20, 19)) })
    const midnightOfKolkata = new Date(Date.UTC(2026, 10, 20, 18, 30))
    expect(hoursOfBar(midnightOfKolkata, 'day').from).toEqual(new Date(Date.UTC(2026, 10, 20, 19)))
    const { until } = hoursOfBar(new Date(2026, 10, 20), 'day')
    expect(until.getTime() % hour).toBe(0)
  })

  test('takes a longer interval where bars would be too thin to read', () => {
    expect(readableInterval('hour', day)).toBe('hour')
    expect(readableInterval('hour', 7 * day)).toBe('day')
    expect(readableInterval('day', 300 * day)).toBe('week')
    expect(readableInterval('week', 9000 * day)).toBe('week')
  })

  test('names the hour alone within a day, and the date beyond', () => {
    const time = new Date(2026, 10, 5, 7)
    expect(bucketLabel(time, 'hour', day)).toBe('07:00')
    expect(bucketLabel(time, 'hour', 3 * day)).toBe('11-05 07:00')
    expect(bucketLabel(time, 'day', 30 * day)).toBe('11-05')
    // Where the reader's clock is half an hour off that of UTC.
    expect(bucketLabel(new Date(2026, 10, 5, 7, 30), 'hour', day)).toBe('07:30')
  })
})
