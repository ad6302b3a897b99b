import { oneAtATime } from '#core/one-at-a-time.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Changes } from '#db/changes.ts'

/** First half of the advisory locks that say "the node with this number caches rows and acknowledges barriers". */
const cachingNodeLockClass = 7303

/** A node that hangs delays a writer no longer. */
const longestWaitMs = 500

const acknowledgementsOf = (node: number): string => `barriers_${node}`

/**
 * Makes a write true everywhere before it is answered. The notices of one database reach all listeners in the order of
 * commits: whoever receives a barrier has received every change before it, reads again what is due and acknowledges.
 */
export async function createWriteBarrier(given: {
  changes: Changes
  nodeId: number
  /** Resolves when everything that notices have named so far is read again. */
  caughtUp: () => Promise<void>
  /** No notices can be received now: what is cached has to be doubted. */
  doubt: () => void
  log: Logger
  longestWaitMs?: number | undefined
}): Promise<() => Promise<void>> {
  const { changes, nodeId, caughtUp, log } = given
  const bound = given.longestWaitMs ?? longestWaitMs
  const acknowledgements = createAcknowledgements(nodeId)

  changes.onChange(({ table, id }) => {
    if (table !== 'barrier') return
    const [writer = 0, number = 0] = id.split(':').map(Number)
    void caughtUp()
      .then(() => (writer === nodeId ? acknowledgements.add(nodeId, number) : acknowledge(writer, number)))
      // The session is lost; the writer does not wait for ever.
      .catch(() => {})
  })
  const acknowledge = async (writer: number, number: number): Promise<void> => {
    await changes.query('select pg_notify($1, $2)', [acknowledgementsOf(writer), `${nodeId}:${number}`])
  }
  await changes.listen(acknowledgementsOf(nodeId), (text) => {
    const [node = 0, number = 0] = text.split(':').map(Number)
    acknowledgements.add(node, number)
  })
  // Shared, for a server may still hold the lock for a session of ours that it has not noticed to be lost.
  const register = () => changes.query('select pg_advisory_lock_shared($1, $2)', [cachingNodeLockClass, nodeId])
  await register()
  // It fails with the session, and the next one calls it anew.
  changes.onConnected(() => void register().catch(() => {}))

  let last = 0
  const send = oneAtATime(async (): Promise<Sent> => {
    const number = ++last
    const { rows } = await changes.query(announce, [`barrier:${nodeId}:${number}`, cachingNodeLockClass])
    return { number, nodes: (rows[0]?.nodes as number[] | undefined) ?? [] }
  })

  return async () => {
    const timeout = new AbortController()
    const late = delay(bound, 'late' as const, { signal: timeout.signal, ref: false }).catch(() => 'late' as const)
    try {
      const sent = await Promise.race([send(), late])
      if (sent === 'late') return log.warn('a change could not be told to the other nodes in time')
      const outcome = await Promise.race([acknowledgements.wait(sent), late])
      if (outcome !== 'late') return
      const nodes = acknowledgements.giveUp(sent)
      if (nodes.length > 0)
        log.warn({ nodes }, 'nodes did not acknowledge a change in time; they catch up by themselves, later')
    } catch (error) {
      log.warn({ err: error }, 'a change could not be told to the other nodes')
      given.doubt()
      await Promise.race([caughtUp(), late])
    } finally {
      timeout.abort()
    }
  }
}

/** One statement notifies the others and finds out who they are: those whose session lives. */
const announce = `select pg_notify('changes', $1), array(
    select distinct objid::int from pg_locks
    where locktype = 'advisory' and classid = $2 and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())
  ) as nodes`

type Sent = { number: number; nodes: number[] }

function createAcknowledgements(self: number) {
  /** The last barrier that each node acknowledged, which stands for all before it. */
  const reached = new Map<number, number>()
  /** Nodes that let a writer wait in vain; nobody waits for them before they are back. */
  const silent = new Set<number>()
  /** Writers that came together share one barrier. */
  const waiting = new Map<Sent, (() => void)[]>()

  const missing = ({ number, nodes }: Sent): number[] =>
    nodes.filter((node) => !silent.has(node) && (reached.get(node) ?? 0) < number)
  const look = (): void => {
    for (const [sent, writers] of waiting) {
      if (missing(sent).length > 0) continue
      waiting.delete(sent)
      for (const resolve of writers) resolve()
    }
  }

  return {
    add: (node: number, number: number): void => {
      silent.delete(node)
      reached.set(node, Math.max(number, reached.get(node) ?? 0))
      look()
    },
    wait: (sent: Sent): Promise<void> => {
      for (const node of [...reached.keys(), ...silent]) {
        if (sent.nodes.includes(node)) continue
        reached.delete(node)
        silent.delete(node)
      }
      return new Promise((resolve) => {
        waiting.set(sent, [...(waiting.get(sent) ?? []), resolve])
        look()
      })
    },
    /** Waits no longer; whom for. */
    giveUp: (sent: Sent): number[] => {
      const nodes = missing(sent)
      for (const node of nodes) if (node !== self) silent.add(node)
      waiting.delete(sent)
      look()
      return nodes
    },
  }
}
