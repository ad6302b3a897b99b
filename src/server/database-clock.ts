/** What the database said of its time, and when it was asked and had answered by a clock that never jumps. */
export type Reading = { databaseMs: number; askedMs: number; answeredMs: number }

/** Answers that took longer say too little. */
const longestTripMs = 2000
const firstReadings = 5
const readEveryMs = 10_000
/** A difference that somebody should look into. */
const noticeableMs = 2000

/**
 * What has to be added to the steady clock. The database read its clock somewhere between question and answer; what was
 * known before stays as long as that leaves it possible, so that slow answers do not make the time tremble.
 */
export function offsetAfter(known: number | null, { databaseMs, askedMs, answeredMs }: Reading): number | null {
  if (known !== null && answeredMs - askedMs > longestTripMs) return known
  const least = databaseMs - answeredMs
  const most = databaseMs - askedMs
  return known !== null && known >= least && known <= most ? known : (least + most) / 2
}

type Asking = {
  /** Asks the database on a connection that others do not hold up. */
  query: (text: string) => Promise<{ rows: { ms?: unknown }[] }>
  /** Whatever was known may be wrong after the connection was lost: the machine may have slept, the database moved. */
  onConnected: (listener: () => void) => void
}

export type DatabaseClock = { now: () => Date; stop: () => void }

/**
 * The database's time in this process, so that what one node writes down to expire does not expire early on another whose
 * clock is wrong. It runs on the steady clock of the process: a jump of the machine's own clock changes nothing.
 */
export async function followDatabaseClock(
  { query, onConnected }: Asking,
  onDifferent: (secondsAhead: number) => void,
): Promise<DatabaseClock> {
  let offset: number | null = null
  const read = async (): Promise<Reading> => {
    const askedMs = performance.now()
    const { rows } = await query('select extract(epoch from clock_timestamp())::float8 * 1000 as ms')
    return { databaseMs: Number(rows[0]?.ms), askedMs, answeredMs: performance.now() }
  }
  const follow = async (): Promise<void> => {
    offset = offsetAfter(offset, await read())
  }
  const readings: Reading[] = []
  for (let count = 0; count < firstReadings; count += 1) readings.push(await read())
  const tripMs = ({ askedMs, answeredMs }: Reading): number => answeredMs - askedMs
  for (const reading of readings.toSorted((left, right) => tripMs(left) - tripMs(right)))
    offset = offsetAfter(offset, reading)

  const now = (): Date => new Date(performance.now() + (offset ?? performance.timeOrigin))
  const aheadMs = Date.now() - now().getTime()
  if (Math.abs(aheadMs) > noticeableMs) onDifferent(Math.round(aheadMs / 1000))
  // While the database is away the last known difference counts; the connection says itself that it is lost.
  const again = (): void => void follow().catch(() => {})
  onConnected(again)
  const timer = setInterval(again, readEveryMs)
  timer.unref()
  return { now, stop: () => clearInterval(timer) }
}
