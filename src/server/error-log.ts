import { isDatabaseUnavailable } from '#core/database-errors.ts'
import { QueueFull } from '#features/ledger/service.ts'

type LogCall = (fields: { err: unknown; requestId?: string }, message: string) => void

/** A queue that is full is pressure, not a fault; one message a second of each does not hide the other. */
export function reportBatchErrors(log: { warn: LogCall; error: LogCall }): (error: unknown) => void {
  const full = atMostOnceASecond((error) => log.warn({ err: error }, 'a queue of the ledger is full'))
  const failed = atMostOnceASecond((error) => log.error({ err: error }, 'a ledger batch failed'))
  return (error) => (error instanceof QueueFull ? full(error) : failed(error))
}

/** Each call that fails for a reason nobody foresaw has its line; a database that is away has one a second. */
export function reportUnexpected(log: { warn: LogCall; error: LogCall }): (error: unknown, requestId: string) => void {
  const away = atMostOnceASecond((error) => log.warn({ err: error }, 'the database is unavailable: calls are refused'))
  return (error, requestId) =>
    isDatabaseUnavailable(error) ? away(error) : log.error({ err: error, requestId }, 'a call failed unexpectedly')
}

/** A database that is away makes thousands of calls fail alike. */
export function atMostOnceASecond(say: (error: unknown) => void): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  return (error) => {
    if (performance.now() - loggedAt < 1000) return
    loggedAt = performance.now()
    say(error)
  }
}
