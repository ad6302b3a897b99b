import { expect, test } from 'vitest'
import { daysUpTo, sumByDay } from './days.ts'

test('the days end with today and cross the end of a month', () => {
  const days = daysUpTo(new Date(2026, 2, 2, 15, 30), 4)
  expect(days.map((day) => `${day.getMonth() + 1}-${day.getDate()}`)).toEqual(['2-27', '2-28', '3-1', '3-2'])
})

test('what several models cost on a day is one sum, and a day without calls is zero', () => {
  const days = daysUpTo(new Date(2026, 2, 2, 15, 30), 3)
  const points = [
    { time: new Date(2026, 1, 28), models: [{ quota: 5 }] },
    { time: new Date(2026, 2, 2, 1), models: [{ quota: 4 }, { quota: 3 }] },
    { time: new Date(2026, 2, 2, 9), models: [{ quota: 3 }] },
  ]
  expect(sumByDay(points, days)).toEqual([5, 0, 10])
})
