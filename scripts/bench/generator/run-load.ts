import type { Connections } from './connections.ts'
import { type Load, type LoadResult, summarise } from './load.ts'
import { createSender, emptyTally } from './send.ts'

type Send = (due: number, over: () => void) => void

/** Each caller sends its next request when its answer is there; answers that are still due at the end are waited for. */
const closedLoop = (send: Send, pace: { connections: number; seconds: number }): Promise<void> =>
  new Promise((resolve) => {
    const end = performance.now() + pace.seconds * 1000
    let running = pace.connections
    const next = (): void => {
      const now = performance.now()
      if (now < end) return send(now, next)
      running -= 1
      if (running === 0) resolve()
    }
    for (let caller = 0; caller < pace.connections; caller += 1) next()
  })

/** Requests leave when they are due and their time counts from then, so that a stall is felt by all that waited in it. */
const openLoop = (send: Send, pace: { count: number; gapMs: number }): Promise<void> =>
  new Promise((resolve) => {
    const start = performance.now()
    let [sent, over] = [0, 0]
    const done = (): void => {
      over += 1
      if (over === pace.count) resolve()
    }
    const tick = (): void => {
      const now = performance.now()
      while (sent < pace.count && start + sent * pace.gapMs <= now) {
        send(start + sent * pace.gapMs, done)
        sent += 1
      }
      if (sent < pace.count) setTimeout(tick, Math.max(0, start + sent * pace.gapMs - performance.now()))
    }
    tick()
  })

const follow = (send: Send, { pace }: Load): Promise<void> => {
  switch (pace.kind) {
    case 'closed':
      return closedLoop(send, pace)
    case 'open':
      return openLoop(send, { count: pace.perSecond * pace.seconds, gapMs: 1000 / pace.perSecond })
    case 'burst':
      return openLoop(send, { count: pace.callers, gapMs: (pace.overSeconds * 1000) / pace.callers })
  }
}

export async function runLoad(load: Load, connections: Connections): Promise<LoadResult> {
  const tally = emptyTally()
  const start = performance.now()
  await follow(createSender(load, connections, tally), load)
  const { latencies, firstTokens, ...seen } = tally
  const seconds = (performance.now() - start) / 1000
  return { ...seen, seconds, latency: summarise(latencies), firstToken: summarise(firstTokens) }
}
