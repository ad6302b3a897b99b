import type { Installation, Target } from '../installation.ts'
import type { Program } from '../child.ts'
import { measure } from '../measure.ts'
import type { Options } from '../options.ts'
import { fixed, printTable, type Verdict } from '../report.ts'

type Seen = { ready: number; first: number; p50: number; p99: number }

/** How long a process takes to its first answer, and what it adds to answers in its first half minute at 200 requests a second. */
export async function cold(installation: Installation, options: Options): Promise<Verdict[]> {
  const pace = { kind: 'open' as const, perSecond: 200, seconds: options.coldSeconds }
  const { latency: direct } = await measure(installation, installation.direct, { scenario: 'slow', pace })
  const startAndAsk = async (start: () => Promise<Target & Program>): Promise<Seen> => {
    const startedAt = performance.now()
    const target = await start()
    const ready = (performance.now() - startedAt) / 1000
    const once = { kind: 'burst' as const, callers: 1, overSeconds: 0.001 }
    await measure(installation, target, { scenario: 'plain', pace: once })
    const first = (performance.now() - startedAt) / 1000
    const { latency } = await measure(installation, target, { scenario: 'slow', pace })
    await target.stop()
    return { ready, first, p50: latency.p50 - direct.p50, p99: latency.p99 - direct.p99 }
  }
  const bare = await startAndAsk(() => installation.passThrough())
  const ours = await startAndAsk(() => installation.gateway())
  const row = (name: string, { ready, first, p50, p99 }: Seen) => [
    name,
    fixed(ready, 2),
    fixed(first, 2),
    fixed(p50, 1),
    fixed(p99, 1),
  ]
  const title = `Cold: from the start, then ${options.coldSeconds} s of 200 requests/s, 50 ms upstream`
  const head = ['target', 'ready s', 'first answer s', 'added p50 ms', 'added p99 ms']
  printTable(title, head, [row('pass-through', bare), row('gateway', ours)])
  return [
    {
      what: 'start to first answer',
      bare: `${fixed(bare.first, 2)} s`,
      gateway: `${fixed(ours.first, 2)} s`,
      value: ours.first,
      shown: `${fixed(ours.first, 2)} s`,
      bar: 3,
      goal: 1.5,
      unit: ' s',
      better: 'less',
    },
    {
      what: 'added at 200/s in the first 30 s, p99',
      bare: `${fixed(bare.p99, 1)} ms`,
      gateway: `${fixed(ours.p99, 1)} ms`,
      value: ours.p99,
      shown: `${fixed(ours.p99, 1)} ms`,
      bar: 40,
      goal: 10,
      unit: ' ms',
      better: 'less',
    },
  ]
}
