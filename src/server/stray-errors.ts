import type { Logger } from 'pino'

/** Whoever fails again and again is logged once in a while. */
const reportEveryMs = 1000

/**
 * An error that nobody caught ends the answer it belonged to, not the hundreds of others under way in this process: their
 * money is kept in the database, in transactions. For a process that serves; one that is starting may fail.
 */
export function surviveStrayErrors(log: Logger): void {
  let reportedAt = Number.NEGATIVE_INFINITY
  process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
    // Nobody reads what we say any more: saying so would only fail again.
    if (error?.code === 'EPIPE' || performance.now() - reportedAt < reportEveryMs) return
    reportedAt = performance.now()
    log.error({ err: error }, 'an error that nobody caught')
  })
}
