import { compare } from '../measure.ts'
import { fixed, type Verdict } from '../report.ts'
import type { Bench } from './bench.ts'
import { printLoad } from './throughput.ts'

/** What the gateway adds to each answer of a 50 ms upstream at 500 requests a second, counted from when each was due. */
export async function latency({ installation, options, gateway, passThrough }: Bench): Promise<Verdict[]> {
  const { trials, seconds } = options
  const { direct } = installation
  const pace = { kind: 'open' as const, perSecond: 500, seconds: seconds + 1 }
  const targets = [{ ...direct, name: 'direct' as const }, passThrough, gateway]
  const seen = await compare(installation, targets, { scenario: 'slow', pace, trials })
  printLoad('Added latency, open loop at 500 requests/s, 50 ms upstream', seen)
  const added = (name: 'pass-through' | 'gateway', which: 'p50' | 'p99') =>
    seen[name].latency[which] - seen.direct.latency[which]
  return (['p50', 'p99'] as const).map((which) => ({
    what: `added at 500/s, ${which}`,
    bare: `${fixed(added('pass-through', which), 1)} ms`,
    gateway: `${fixed(added('gateway', which), 1)} ms`,
    value: added('gateway', which),
    shown: `${fixed(added('gateway', which), 1)} ms`,
    ...(which === 'p50' ? { bar: 3, goal: 1.5 } : { bar: 15, goal: 8 }),
    unit: ' ms',
    better: 'less' as const,
  }))
}
