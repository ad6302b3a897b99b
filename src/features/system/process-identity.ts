import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * What distinguishes a process from all others that ever ran: its machine and that one's boot, the namespace that its number
 * counts in, and since when it runs. Null where the system does not say so (all but Linux).
 */
export function ownProcess(): string | null {
  try {
    return [ourNamespace(), process.pid, startOf(process.pid)].join(' ')
  } catch {
    return null
  }
}

/** Whether a process of this machine is over. False where it cannot be known: of another machine, or seen from another container. */
export function hasEnded(name: string): boolean {
  try {
    const parts = name.split(' ')
    const start = parts.pop()
    const pid = Number(parts.pop())
    if (parts.join(' ') !== ourNamespace()) return false
    return isUnused(pid) || startOf(pid) !== start
  } catch {
    return false
  }
}

/**
 * Machines that were copied while they ran have the same boot. A number is given again once its namespace is gone, to what
 * began later. In another time namespace the same process began at another time.
 */
function ourNamespace(): string {
  // Else what /proc says of a number is of another process than the kernel's: mounted from outside the container.
  if (readlinkSync('/proc/self') !== String(process.pid)) throw new Error('/proc counts otherwise than the kernel')
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return [hostname(), boot, readlinkSync('/proc/self/ns/pid'), timeNamespace()].join(' ')
}

/** Kernels before 5.6 have but one. */
function timeNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/time')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'time'
    throw error
  }
}

/** Asks the kernel, since /proc may be mounted so that it hides what other users run. */
function isUnused(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** In ticks since the machine's boot; `ended` of a process that only waits for its parent. See proc_pid_stat(5). */
function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in brackets may hold anything, spaces and brackets too; the state is what follows it, the start the twentieth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : String(fields[19])
}
