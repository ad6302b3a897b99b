import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { readBuildId } from './build-id.ts'
import type { Stop } from './serve.ts'

/** Pauses between a worker's death and its successor grow while they die young. */
const shortestPauseMs = 100
const longestPauseMs = 5000
const youngMs = 10_000

/** A worker that does not end although it was asked to is ended, so long after its own deadline. */
const timeoutMs = 30_000

/**
 * Keeps as many processes as are wanted, which share the port. Resolves when all of them serve, with what ends them in good
 * order. One that dies after the product's files have changed is not replaced: its successor would be another version, on a
 * database that nobody migrated for it. @throws when one of the first cannot start.
 */
export async function startWorkers(input: {
  count: number
  env: Record<string, string>
  stopSeconds: number
  log: Logger
}): Promise<Stop> {
  const { log } = input
  let stopping = false
  let started = false
  let pauseMs = shortestPauseMs
  const build = readBuildId()
  const isSameBuild = (): boolean => {
    try {
      return build === readBuildId()
    } catch {
      // Being replaced at this moment.
      return false
    }
  }

  const start = (replaces = false): Promise<void> =>
    new Promise((resolve, reject) => {
      const bornAt = performance.now()
      const worker = cluster.fork(input.env)
      let serves = false
      worker.once('listening', () => {
        serves = true
        resolve()
      })
      worker.once('exit', (code, signal) => {
        reject(new Error('A worker process could not start; what it said stands above.'))
        // One of the first that never served ends the start; any other is replaced, though some are still starting.
        if (stopping || !(started || serves || replaces)) return
        pauseMs = performance.now() - bornAt > youngMs ? shortestPauseMs : Math.min(pauseMs * 2, longestPauseMs)
        log.error({ worker: worker.process.pid, code, signal, pauseMs }, 'a worker died')
        void replace()
      })
    })
  const replace = async (): Promise<void> => {
    await delay(pauseMs)
    if (!isSameBuild()) {
      log.error('the files of the product have changed since it started: a worker is not replaced; restart the product')
      // Whoever supervises it starts the new version.
      if (!stopping && Object.keys(cluster.workers ?? {}).length === 0) process.exit(1)
      return
    }
    // Why it failed stands in the log; its end starts the next attempt.
    if (!stopping) await start(true).catch(() => {})
  }

  await Promise.all(Array.from({ length: input.count }, () => start()))
  started = true
  return async ({ unannounced = false } = {}) => {
    stopping = true
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    await Promise.all(workers.map((worker) => endWorker(worker, { unannounced }, input.stopSeconds * 1000 + timeoutMs)))
  }
}

/** Asks a worker to end without waiting until somebody in front has noticed. Also ends one that does not listen yet. */
const unannouncedSignal = process.platform === 'win32' ? 'SIGTERM' : 'SIGUSR2'

async function endWorker(worker: Worker, how: { unannounced: boolean }, longestMs: number): Promise<void> {
  if (worker.isDead()) return
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  worker.process.kill(how.unannounced ? unannouncedSignal : 'SIGTERM')
  const timeout = setTimeout(() => worker.process.kill('SIGKILL'), longestMs)
  await ended
  clearTimeout(timeout)
}

/** Stops once, however often it is asked to, and ends the process with what came of it. */
export function endingBy(stop: Stop): (how: { unannounced: boolean }) => void {
  let stopping = false
  return (how) => {
    if (stopping) return
    stopping = true
    void stop(how).then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
}

/** What a worker does when it is asked to end, or finds itself alone. */
export function endWith(stop: Stop): void {
  const end = endingBy(stop)
  process.on('SIGTERM', () => end({ unannounced: false }))
  process.on(unannouncedSignal, () => end({ unannounced: true }))
  // Ctrl-C and the end of a terminal reach the whole group of processes; the first one asks its workers when.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
  cluster.worker?.on('disconnect', () => {
    // Else it would exit at once, with calls under way, when the first process was killed.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
    // The port went with the first process: nobody new can come.
    end({ unannounced: true })
  })
}
