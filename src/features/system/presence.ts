import { statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Pool } from 'pg'
import type { NodeFigures } from '#db/entities/node.ts'
import { ownProcess } from './process-identity.ts'

/** Read of the process whenever its row is written; the rest is the same for every process. */
type OwnFigures = Omit<NodeFigures, 'memoryBytes' | 'loopDelayMs' | 'disk'>

const writeEveryMs = 5000
/** Rows of processes that ended without taking theirs along. */
const forgetAfter = '1 hour'

type Given = {
  pool: Pool
  node: { id: number; role: string; version: string; startedAt: Date }
  /** Where the installation keeps its files. */
  folder: string
  read: () => OwnFigures
}

/**
 * Writes down every few seconds that this process is there and how it is doing. Resolves after the first time, so that
 * whatever it holds is known to be its own. `stop` takes its row away.
 */
export async function keepPresence({ pool, node, folder, read }: Given): Promise<{ stop: () => Promise<void> }> {
  const delays = monitorEventLoopDelay({ resolution: 20 })
  delays.enable()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const write = async (): Promise<void> => {
    const loopDelayMs = Math.max(0, Math.round(delays.percentile(99) / 1e6) - 20)
    delays.reset()
    const figures: NodeFigures = {
      ...read(),
      memoryBytes: process.memoryUsage.rss(),
      loopDelayMs: Number.isFinite(loopDelayMs) ? loopDelayMs : 0,
      disk: await diskOf(folder),
    }
    await pool.query(
      // Not the row that a process writes meanwhile which is back, as after a night of the whole machine: it may be removing this one.
      `with old as (delete from nodes where id in (
        select id from nodes where seen_at < now() - $7::interval and id <> $1 for update skip locked))
      insert into nodes (id, host, pid, process, address, role, version, started_at, figures, seen_at)
      values ($1, $2, $3, $9, host(inet_client_addr()), $4, $5, $6, $8, now())
      on conflict (id) do update set host = excluded.host, pid = excluded.pid, process = excluded.process,
        address = excluded.address, role = excluded.role, version = excluded.version, started_at = excluded.started_at,
        figures = excluded.figures, seen_at = excluded.seen_at`,
      [
        node.id,
        hostname(),
        process.pid,
        node.role,
        node.version,
        node.startedAt,
        forgetAfter,
        JSON.stringify(figures),
        ownProcess(),
      ],
    )
  }
  let writing = Promise.resolve()
  const keep = async (): Promise<void> => {
    // While the database is away nobody can look either.
    writing = write().catch(() => {})
    await writing
    if (!stopped) timer = setTimeout(() => void keep(), writeEveryMs).unref()
  }
  await keep()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      delays.disable()
      await writing
      await pool.query('delete from nodes where id = $1', [node.id]).catch(() => {})
    },
  }
}

async function diskOf(folder: string): Promise<NodeFigures['disk']> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  } catch {
    return null
  }
}
