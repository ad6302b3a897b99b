import { readFileSync, readlinkSync } from 'node:fs'

/**
 * What distinguishes a process from all others that ever ran: the boot of its machine, the namespace that its number counts in, and
 * since when it runs. Null where the system does not say so (all but Linux).
 */
export function ownProcess(): string | null {
  try {
    return [...ourNamespace(), process.pid, startOf(process.pid)].join(' ')
  } catch {
    return null
  }
}

/** Whether a process of this machine is over. False where it cannot be known: of another machine, or seen from another container. */
export function hasEnded(name: string): boolean {
  try {
    const [boot, namespace, pid, start] = name.split(' ')
    const [ourBoot, ourPids] = ourNamespace()
    if (boot !== ourBoot || namespace !== ourPids) return false
    return isUnused(Number(pid)) || startOf(Number(pid)) !== start
  } catch {
    return false
  }
}

const ourNamespace = (): [boot: string, pids: string] => [
  readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  // A number is given again once its namespace is gone; whatever runs in the next one began later.
  readlinkSync('/proc/self/ns/pid'),
]

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
