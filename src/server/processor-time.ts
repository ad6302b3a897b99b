/** Milliseconds of processor time that this thread has used: they do not pass while other processes have the core. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
