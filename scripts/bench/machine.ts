import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'

const hasProc = existsSync('/proc/self/stat')
const ticksPerSecond = hasProc ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : 100

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process ended between two looks.
    return ''
  }
}

function childrenOf(pid: number): number[] {
  const own = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return own.flatMap((child) => [child, ...childrenOf(child)])
}

const familyOf = (pid: number): number[] => [pid, ...childrenOf(pid)]

/** Seconds of processor time that a process and all it has started have used; NaN where the system does not tell. */
export function cpuSecondsOf(pid: number): number {
  if (!hasProc) return Number.NaN
  const ticks = familyOf(pid).map((one) => {
    // The name in brackets may itself hold blanks. Then: user and system time, and those of children that have ended.
    const fields = read(`/proc/${one}/stat`).split(') ').at(-1)?.split(' ') ?? []
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  })
  return ticks.reduce((sum, value) => sum + value, 0) / ticksPerSecond
}

/** Memory that a process and all it has started hold, in MB; NaN where the system does not tell. */
export function residentMbOf(pid: number): number {
  if (!hasProc) return Number.NaN
  const kilobytes = familyOf(pid).map((one) => Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${one}/status`))?.[1] ?? 0))
  return kilobytes.reduce((sum, value) => sum + value, 0) / 1024
}

export type Role = 'gateway' | 'rest'

const hasTaskset = hasProc && spawnSync('taskset', ['--version']).status === 0
export const canPin = hasTaskset && availableParallelism() >= 2

/** Moves a process with all it has started: what is measured has the first core to itself, everything else the others. */
export function pin(pid: number, role: Role | 'anywhere'): void {
  if (!canPin) return
  const last = availableParallelism() - 1
  const cores = role === 'anywhere' ? `0-${last}` : role === 'gateway' ? '0' : `1-${last}`
  for (const one of familyOf(pid)) spawnSync('taskset', ['-a', '-c', '-p', cores, String(one)])
}

export const describeMachine = (): string =>
  `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB, ` +
  `${process.platform} ${release()}, Node ${process.version}`
