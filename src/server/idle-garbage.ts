import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Logger } from 'pino'

const lookEveryMs = 10_000
/** A process that is busy for less of its time has nobody who would feel the pause. */
const idleShare = 0.02
/** More than the young generation grows by, which a few calls fill again. */
const worthCollecting = 48 * 1024 * 1024

const held = (): number => {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}

/**
 * Gives memory back that a busy time has taken. The engine collects as it allocates, so that an idle process would keep for minutes
 * what it no longer needs. Nothing without `--expose-gc`.
 */
export function collectWhenIdle(log: Logger): void {
  const { gc } = globalThis
  if (!gc) return
  let remaining = held()
  let before = performance.eventLoopUtilization()
  const look = (): void => {
    const { utilization } = performance.eventLoopUtilization(before)
    before = performance.eventLoopUtilization()
    const taken = held()
    remaining = Math.min(remaining, taken)
    if (utilization > idleShare || taken < remaining + worthCollecting) return
    const startedAt = performance.now()
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    remaining = held()
    log.debug(
      { ms: Math.round(performance.now() - startedAt), freed: taken - remaining },
      'collected the garbage of a busy time',
    )
  }
  setInterval(look, lookEveryMs).unref()
}
