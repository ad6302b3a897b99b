import { afterEach, expect, test, vi } from 'vitest'
import { followDatabaseClock, offsetAfter } from './database-clock.ts'

afterEach(() => void vi.useRealTimers())

const hour = 3_600_000

test('a first reading takes the middle between question and answer', () => {
  expect(offsetAfter(null, { databaseMs: 1_000_050, askedMs: 100, answeredMs: 200 })).toBe(999_900)
})

test('what is known stays as long as an answer leaves it possible, however slow that was', () => {
  const known = 999_900
  expect(offsetAfter(known, { databaseMs: 1_000_600, askedMs: 650, answeredMs: 1500 })).toBe(known)
  expect(offsetAfter(known, { databaseMs: 1_009_900, askedMs: 1000, answeredMs: 10_000 })).toBe(known)
})

test('what an answer rules out is corrected', () => {
  const later = { databaseMs: 1_000_050 + hour, askedMs: 100, answeredMs: 200 }
  expect(offsetAfter(999_900, later)).toBe(999_900 + hour)
  expect(offsetAfter(999_900, { ...later, databaseMs: 1_000_050 - hour })).toBe(999_900 - hour)
})

test('an answer that took too long says nothing', () => {
  expect(offsetAfter(5, { databaseMs: hour, askedMs: 0, answeredMs: 2001 })).toBe(5)
})

const databaseAt = (start: number) => {
  const begun = performance.now()
  const state = { shift: 0, connected: () => {} }
  return {
    state,
    query: () => Promise.resolve({ rows: [{ ms: start + state.shift + performance.now() - begun }] }),
    onConnected: (listener: () => void) => void (state.connected = listener),
  }
}

test("the time is the database's, whatever the machine's clock says, and a difference is reported", async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000_000 + hour })
  const reported: number[] = []
  const database = databaseAt(1_000_000_000_000)
  const clock = await followDatabaseClock(database, (seconds) => reported.push(seconds))
  const error = () => Math.abs(clock.now().getTime() - 1_000_000_000_000)
  expect(error()).toBeLessThan(60_000)
  // The database's time goes on meanwhile.
  expect(reported).toEqual([expect.closeTo(3600, -2)])
  vi.setSystemTime(1_000_000_000_000 - hour)
  expect(error()).toBeLessThan(60_000)
  clock.stop()
})

test('a database whose clock was set is followed after the connection was lost', async () => {
  const database = databaseAt(1_000_000_000_000)
  const clock = await followDatabaseClock(database, () => {})
  database.state.shift = hour
  database.state.connected()
  await expect.poll(() => clock.now().getTime()).toBeGreaterThanOrEqual(1_000_000_000_000 + hour)
  clock.stop()
})
