import { DomainError } from '#core/errors.ts'

/** Each hash takes 19 MiB and a thread of the four that files and names of hosts are read with too. */
const mostRunning = 2
/** At a tenth of a second each, nobody waits for longer than some seconds. */
const mostWaiting = 100

export type PasswordQueue = <Result>(hash: () => Promise<Result>) => Promise<Result>

/** Runs a few at a time, in their order. @throws {DomainError} password.busy: by the promise, when too many wait already */
export function createPasswordQueue(limits = { running: mostRunning, waiting: mostWaiting }): PasswordQueue {
  const waiting: (() => void)[] = []
  let running = 0
  return async (hash) => {
    if (running >= limits.running) {
      if (waiting.length >= limits.waiting) throw new DomainError('password.busy')
      // Whoever ends hands its place over, so nobody who comes meanwhile takes it.
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running += 1
    try {
      return await hash()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
