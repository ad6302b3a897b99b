import { compare } from '../measure.ts'
import { fixed, type Verdict } from '../report.ts'
import type { Bench } from './bench.ts'
import { printLoad } from './throughput.ts'

const sizes = [
  { kilobytes: 100, bar: 900, goal: 1200 },
  { kilobytes: 400, bar: 300, goal: 400 },
]

/** Conversations as agents send them: what a core of the gateway forwards in a second. */
export async function bodies({ installation, options, gateway, passThrough }: Bench): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const { kilobytes, bar, goal } of sizes) {
    const { seen, perCore } = await measureSize(kilobytes)
    printLoad(`Request bodies of ${kilobytes} KB, 16 connections`, seen)
    verdicts.push({
      what: `requests/s per core, ${kilobytes} KB bodies`,
      bare: fixed(perCore('pass-through')),
      gateway: fixed(perCore('gateway')),
      value: perCore('gateway'),
      shown: fixed(perCore('gateway')),
      bar,
      goal,
      unit: '',
      better: 'more',
    })
  }
  return verdicts

  async function measureSize(kilobytes: number) {
    const pace = { kind: 'closed' as const, connections: 16, seconds: options.seconds }
    const input = { scenario: 'plain' as const, pace, bodyBytes: kilobytes * 1000, trials: options.trials }
    const seen = await compare(installation, [passThrough, gateway], input)
    // From processor time, so that neither the database nor the generator on the other core sets the figure.
    return { seen, perCore: (name: 'pass-through' | 'gateway') => 1000 / seen[name].cpu.target }
  }
}
