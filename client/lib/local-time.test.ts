import { expect, test } from 'vitest'
import { comingHour, fromLocalInput, toLocalInput } from './local-time.ts'

test('a field of a time can be given what it gave, also while its year is being typed', () => {
  for (const typed of ['0002-11-21T14:03', '0020-11-21T14:03', '0202-11-21T14:03', '2026-11-21T14:03']) {
    const time = fromLocalInput(typed)
    expect(time && toLocalInput(time)).toBe(typed)
  }
})

test.each(['04:00:00', '04:29:59', '04:30:00', '04:30:01', '04:59:59.999'])(
  'what is offered at %s as the coming hour is full, and half an hour away or more',
  (clock) => {
    const now = new Date(`2026-11-27T${clock}`)
    const offered = comingHour(now)
    expect(toLocalInput(offered)).toMatch(/:00$/)
    const minutesAhead = (offered.getTime() - now.getTime()) / 60_000
    expect(minutesAhead).toBeGreaterThanOrEqual(30)
    expect(minutesAhead).toBeLessThanOrEqual(90)
  },
)
