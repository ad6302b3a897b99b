import { expect, it } from 'vitest'
import { ownSeries } from './schema.ts'

it('a series is asked for in the zone that the browser names, by the current name of it', () => {
  const asked = { start: new Date(0), end: new Date(1), timeZone: 'Asia/Calcutta' }
  expect(ownSeries.parse(asked).timeZone).toBe('Asia/Kolkata')
  expect(ownSeries.safeParse({ ...asked, timeZone: 'Mars/Base' }).success).toBe(false)
})
