import type { ConnectionOptions } from '#db/connection.ts'
import { startGenerator } from '../bench/child.ts'
import type { LoadResult } from '../bench/generator/load.ts'
import { secretKey, startUpstream } from '../bench/installation.ts'
import { pin } from '../bench/machine.ts'
import { median } from '../bench/measure.ts'
import { scenarios } from '../bench/scenarios.ts'
import { createWorld } from '../bench/world.ts'

/** What calls saw: answers in all, p50 and p99 in milliseconds from when each was due (the median of the spans). */
export type CallsSeen = { answers: number; p50: number; p99: number }

export type RelayLoad = {
  /** Calls that nothing else disturbs, for so many seconds. */
  alone: (origin: string, seconds: number) => Promise<CallsSeen>
  /** Calls for as long as the work takes. */
  beside: <Result>(origin: string, work: () => Promise<Result>) => Promise<{ result: Result; seen: CallsSeen }>
  stop: () => Promise<void>
}

const spanSeconds = 5

function summarise(spans: LoadResult[]): CallsSeen {
  const failed = spans.find(({ failures }) => failures > 0)
  if (failed) throw new Error(`${failed.failures} calls failed, the first with ${failed.firstFailure}`)
  return {
    answers: spans.reduce((sum, { answers }) => sum + answers, 0),
    p50: median(spans.map(({ latency }) => latency.p50)),
    p99: median(spans.map(({ latency }) => latency.p99)),
  }
}

/**
 * A provider that answers after 50 ms, the rows that calls need, and a generator that sends calls of a thousand users at a steady rate to
 * a gateway, which is started after this.
 */
export async function startRelayLoad(connection: ConnectionOptions, perSecond: number): Promise<RelayLoad> {
  const upstream = await startUpstream()
  const world = await createWorld(connection, { secretKey, upstreamUrl: upstream.output })
  const generator = startGenerator()
  for (const { pid } of [upstream, generator]) pin(pid, 'rest')
  const send = (origin: string, seconds: number): Promise<LoadResult> =>
    generator.run({
      origin,
      path: '/v1/chat/completions',
      keys: world.many,
      model: scenarios.slow.model,
      stream: false,
      bodyBytes: 300,
      pace: { kind: 'open', perSecond, seconds },
    })

  return {
    alone: async (origin, seconds) => {
      const spans: LoadResult[] = []
      while (spans.length * spanSeconds < seconds) spans.push(await send(origin, spanSeconds))
      return summarise(spans)
    },
    beside: async (origin, work) => {
      const spans: LoadResult[] = []
      let isOver = false
      const calls = (async () => {
        while (!isOver) spans.push(await send(origin, spanSeconds))
      })()
      const result = await work().finally(() => (isOver = true))
      await calls
      return { result, seen: summarise(spans) }
    },
    stop: async () => {
      await generator.stop()
      await upstream.stop()
      await world.pool.end()
    },
  }
}
