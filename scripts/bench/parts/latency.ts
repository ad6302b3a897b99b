import { compare } from '../measure.ts'
import { fixed, type Verdict } from '../report.ts'
import type { Bench } from './bench.ts'
import { printLoad } from './throughput.ts'

const bars = { p50: { bar: 3, goal: 0.8 }, p99: { bar: 15, goal: 5 } }

/** What the gateway adds to each answer of a 50 ms upstream at 200 and 500 requests a second, counted from when each was due. */
export async function latency(bench: Bench): Promise<Verdict[]> {
  return [...(await latencyAt(bench, 200)), ...(await latencyAt(bench, 500))]
}

async function latencyAt({ installation, options, gateway, passThrough }: Bench, rate: 200 | 500): Promise<Verdict[]> {
  const { trials, seconds } = options
  const { direct } = installation
  const pace = { kind: 'open' as const, perSecond: rate, seconds: seconds + 1 }
  const targets = [{ ...direct, name: 'direct' as const }, passThrough, gateway]
  const seen = await compare(installation, targets, { scenario: 'slow', pace, trials })
  printLoad(`Added latency, open loop at ${rate} requests/s, 50 ms upstream`, seen)
  const added = (name: 'pass-through' | 'gateway', which: 'p50' | 'p99') =>
    seen[name].latency[which] - seen.direct.latency[which]
  return (['p50', 'p99'] as const).map((which) => ({
    what: `added at ${rate}/s, ${which}`,
    bare: `${fixed(added('pass-through', which), 1)} ms`,
    gateway: `${fixed(added('gateway', which), 1)} ms`,
    value: added('gateway', which),
    shown: `${fixed(added('gateway', which), 1)} ms`,
    ...bars[which],
    unit: ' ms',
    better: 'less' as const,
  }))
}
