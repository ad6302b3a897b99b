import { setTimeout as delay } from 'node:timers/promises'
import { isConnectionLost } from '#core/database-errors.ts'

/**
 * Before further attempts: a connection that broke is soon replaced. Where all broke at once, as when their sessions are ended, the
 * next attempt may meet another that did.
 */
export const attemptPausesMs = [0, 50, 200]

/** Reads again what a connection that broke left unanswered. */
export async function readAgain<Result>(read: () => Promise<Result>): Promise<Result> {
  for (const pauseMs of attemptPausesMs) {
    try {
      return await read()
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      await delay(pauseMs)
    }
  }
  return read()
}
