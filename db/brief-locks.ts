import { setTimeout as delay } from 'node:timers/promises'

/**
 * Who waits for the lock of a whole table holds up everybody that comes after, whatever they want of it. Calls wait for a second
 * (db/hot-pool.ts), so nobody else stands before them for as long.
 */
export const briefLockWait = '500ms'

const firstPauseMs = 100
const longestPauseMs = 10_000

/** The lock was not to be had in time, or the wait for it was part of a circle, which the database broke. */
const isHeldUp = (error: unknown): boolean => ['55P03', '40P01'].includes((error as { code?: string }).code ?? '')

type Waiting = {
  signal?: AbortSignal
  /** Whether it need not be done, asked each time that it was not to be done. */
  mayBeLeft?: () => Promise<boolean>
  /** Each time that it is left for a while. */
  onHeldUp?: () => void
}

/**
 * Does what needs such locks for a moment, again and again until it gets them: a backup or a forgotten transaction may keep them
 * for hours. In between go those who waited behind it.
 */
export async function betweenOthers<Result>(
  act: () => Promise<Result>,
  { signal, mayBeLeft = async () => false, onHeldUp }: Waiting = {},
): Promise<Result | undefined> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await act()
    } catch (error) {
      if (!isHeldUp(error)) throw error
      if (await mayBeLeft()) return undefined
      onHeldUp?.()
      await delay(pauseMs, undefined, signal && { signal })
    }
  }
}
