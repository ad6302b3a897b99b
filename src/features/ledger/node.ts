import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { isLockTimeout } from '#core/database-errors.ts'
import type { Changes } from '#db/changes.ts'
import { hasEnded } from '#features/system/process-identity.ts'

/** First half of the advisory locks that say "the process with this number lives". */
export const nodeLockClass = 7301

export type NodeIdentity = {
  id: () => number
  /** The database takes this process for living: nobody gives back what it holds. */
  isHeld: () => boolean
}

/** Takes a new node number and its lock, which lasts as long as the database session that listens. */
export async function takeNodeIdentity(changes: Changes): Promise<NodeIdentity> {
  const { rows } = await changes.query("select nextval('node_ids')::int as id")
  const id = Number(rows[0]?.id)
  await changes.query('select pg_advisory_lock($1, $2)', [nodeLockClass, id])
  // A lost session frees the lock of a living process too; settling copes with holds that were given back meanwhile. A
  // server that has not noticed the loss keeps the lock for the former session, so it may have to be tried for a while.
  let isHeld = true
  changes.onLost(() => {
    isHeld = false
  })
  const lockAgain = async (): Promise<void> => {
    for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
      const { rows: taken } = await changes.query('select pg_try_advisory_lock($1, $2) as taken', [nodeLockClass, id])
      if (taken[0]?.taken === true) {
        isHeld = true
        return
      }
      await delay(pauseMs)
    }
  }
  // It fails with the session, and the next one calls it anew.
  changes.onConnected(() => void lockAgain().catch(() => {}))
  return { id: () => id, isHeld: () => isHeld }
}

/** How often somebody should look: what a dead process kept is free again within three seconds. */
export const lookForDeadNodesEveryMs = 1200

/** So long the database has to have answered before anything is forgotten. */
const steadyMs = 60_000
/** A database that comes back has lost the locks of the living too; they get so long to take them again. */
const graceMs = 10_000
const cleanUpEveryMs = 10_000

/** Charges look into the table that is emptied, and wait behind this while a backup reads it: then rather another time. */
export async function forgetSettledCalls(pool: Pool): Promise<void> {
  try {
    await pool.query("select set_config('lock_timeout', '200ms', true), ledger_forget_settled()")
  } catch (error) {
    if (!isLockTimeout(error)) throw error
  }
}

/**
 * Finds the holds of processes that died and gives them back. A process counts as dead when its lock is free and this machine
 * says that it is over, or else when its lock was free on two looks in a row, `lookForDeadNodesEveryMs` apart, and no outage
 * was right before. Holds of node 0 belong to charges that wait for an operator.
 * @param own the session of this process: when that is lost, others may have lost theirs, and the look itself need not fail.
 *   Before it was there, others may have lost theirs unseen: a process that has just started waits as after a loss.
 */
export function createHoldRecovery(pool: Pool, own?: Pick<Changes, 'onLost'>) {
  let suspects = new Set<number>()
  let steadySince = performance.now()
  let lastOutage = own ? steadySince : Number.NEGATIVE_INFINITY
  let lastCleanUp = Number.NEGATIVE_INFINITY
  const noteOutage = (): void => {
    steadySince = performance.now()
    lastOutage = steadySince
    suspects = new Set()
  }
  own?.onLost(noteOutage)

  /**
   * After a while without the database charges of unknown outcome are still to be sent again; they come first. Only then may
   * what says that they were committed be forgotten.
   */
  const forgetSettled = async (): Promise<void> => {
    if (performance.now() - steadySince < steadyMs) return
    await forgetSettledCalls(pool)
  }

  const look = async (): Promise<{ released: number }> => {
    // Shared, so that two who look at the same moment do not take each other for the living process.
    const { rows } = await pool.query<{ node_id: number; free: boolean; process: string | null }>(
      `select n.node_id, pg_try_advisory_xact_lock_shared($1, n.node_id) as free,
         (select process from nodes where id = n.node_id and address is not distinct from host(inet_client_addr())) as process
       from (select node_id from holds where status = 'open' and node_id <> 0 union select node_id from leases) n`,
      [nodeLockClass],
    )
    const free = rows.filter((row) => row.free)
    const isGrace = performance.now() - lastOutage < graceMs
    const isDead = ({ node_id, process }: (typeof free)[number]): boolean =>
      (!isGrace && suspects.has(node_id)) || (process !== null && hasEnded(process))
    let released = 0
    for (const { node_id } of free.filter(isDead)) {
      const result = await pool.query<{ released: number }>('select ledger_release_node($1) as released', [node_id])
      released += Number(result.rows[0]?.released ?? 0)
    }
    if (isGrace) return { released }
    suspects = new Set(free.map((row) => row.node_id))
    if (performance.now() - lastCleanUp < cleanUpEveryMs) return { released }
    lastCleanUp = performance.now()
    await pool.query("delete from holds where status <> 'open' and released_at < now() - interval '1 day'")
    await forgetSettled()
    return { released }
  }

  return async (): Promise<{ released: number }> => {
    try {
      return await look()
    } catch (error) {
      noteOutage()
      throw error
    }
  }
}
