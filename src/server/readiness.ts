import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'

const rememberedMs = 1000
const answerWithinMs = 2000

/**
 * Whether this node should get calls: it was not asked to stop, and its database answers. However often anybody asks,
 * the database is asked once a second.
 */
export function createReadiness(pool: Pool, isDraining: () => boolean): () => Promise<boolean> {
  let asked = Number.NEGATIVE_INFINITY
  let answers: Promise<boolean> = Promise.resolve(false)

  const ask = (): Promise<boolean> =>
    Promise.race([
      pool.query('select 1').then(
        () => true,
        () => false,
      ),
      delay(answerWithinMs, false, { ref: false }),
    ])

  return async () => {
    if (isDraining()) return false
    if (performance.now() - asked > rememberedMs) {
      asked = performance.now()
      answers = ask()
    }
    return (await answers) && !isDraining()
  }
}
