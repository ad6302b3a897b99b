import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Logger } from 'pino'
import { collectGarbage } from '#core/collect-garbage.ts'
import { processorMs } from './processor-time.ts'

/** What the process holds, in bytes. */
const held = (): number => {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}

function collect(log: Logger, message: string): void {
  const startedAt = performance.now()
  const before = held()
  collectGarbage?.()
  log.debug({ ms: Math.round(performance.now() - startedAt), freed: before - held() }, message)
}

/**
 * Collects what the start left behind, before calls come: they would wait for it. A third of what a process then holds is garbage, in a
 * young generation that grew by it; it takes 0.1 to 0.2 s. Nothing without `--expose-gc`.
 */
export function collectStartGarbage(log: Logger): void {
  if (collectGarbage) collect(log, 'collected the garbage of the start')
}

const lookEveryMs = 10_000
/** A process that works for less of its time, by processor time, has nobody who would feel the pause. */
const idleShare = 0.02
/** More than the young generation grows by, which a few calls fill again. */
const worthCollecting = 48 * 1024 * 1024

/**
 * Gives memory back that a busy time has taken. The engine collects as it allocates, so that an idle process would keep for minutes
 * what it no longer needs. Nothing without `--expose-gc`.
 */
export function collectWhenIdle(log: Logger): void {
  if (!collectGarbage) return
  let remaining = held()
  let lookedAt = performance.now()
  let usedBefore = processorMs()
  const look = (): void => {
    const now = performance.now()
    const used = processorMs()
    const share = (used - usedBefore) / (now - lookedAt)
    lookedAt = now
    usedBefore = used
    const taken = held()
    remaining = Math.min(remaining, taken)
    if (share > idleShare || taken < remaining + worthCollecting) return
    collect(log, 'collected the garbage of a busy time')
    remaining = held()
  }
  setInterval(look, lookEveryMs).unref()
}
