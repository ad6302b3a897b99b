import { setTimeout as pause } from 'node:timers/promises'

const hour = 3_600_000
/** Longer than one of them takes on a busy machine. */
const needed = 30_000

/** For tests that count by the hour or the day: where the hour is nearly over, they begin with the next, so that it does not turn meanwhile. */
export async function withinAnHour(): Promise<void> {
  const left = hour - (Date.now() % hour)
  if (left < needed) await pause(left)
}
