import { totalmem } from 'node:os'
import type { Environment } from '#core/environment.ts'

/** What the bodies of requests may take of this process, in bytes and milliseconds. */
export type BodyLimits = {
  memory: number
  memoryPerAddress: number
  /** Of one call to a model. */
  largest: number
  /** How long a body may bring next to nothing. */
  idleMs: number
  /** How long one waits for memory before it is refused. */
  waitMs: number
}

type Settings = Pick<
  Environment,
  | 'WORKERS'
  | 'BODY_MEMORY_MB'
  | 'BODY_MEMORY_PER_ADDRESS_MB'
  | 'BODY_MAX_MB'
  | 'BODY_IDLE_SECONDS'
  | 'BODY_WAIT_SECONDS'
>

const megabyte = 1024 * 1024

/** What this process may take of the machine or of the container that it runs in. */
function machineMemory(): number {
  const allowed = process.constrainedMemory()
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem()
}

/** A sixteenth of the memory is for the bodies of all workers; less than a few bodies is of no use to anybody. */
const presetMemory = (workers: number): number =>
  Math.min(Math.max(Math.floor(machineMemory() / 16 / workers), 256 * megabyte), 512 * megabyte)

export function bodyLimitsOf(settings: Settings): BodyLimits {
  const memory = settings.BODY_MEMORY_MB === undefined ? undefined : settings.BODY_MEMORY_MB * megabyte
  const largest = settings.BODY_MAX_MB * megabyte
  // One that was set for larger bodies alone is meant.
  const budget = memory ?? Math.max(presetMemory(settings.WORKERS), 4 * largest)
  const perAddress = settings.BODY_MEMORY_PER_ADDRESS_MB
  return {
    memory: budget,
    memoryPerAddress: perAddress === undefined ? Math.floor(budget / 2) : perAddress * megabyte,
    largest,
    idleMs: settings.BODY_IDLE_SECONDS * 1000,
    waitMs: settings.BODY_WAIT_SECONDS * 1000,
  }
}

/** Settings that cannot be kept together: the name of one, and why. */
export function bodyLimitsProblem(settings: Settings): { name: keyof Settings; message: string } | null {
  const { memory, memoryPerAddress, largest } = bodyLimitsOf(settings)
  if (largest > memory) return { name: 'BODY_MAX_MB', message: 'must not be more than BODY_MEMORY_MB' }
  if (memoryPerAddress > memory)
    return { name: 'BODY_MEMORY_PER_ADDRESS_MB', message: 'must not be more than BODY_MEMORY_MB' }
  return null
}
