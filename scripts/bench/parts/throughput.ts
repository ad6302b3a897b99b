import { compare, type Measured, measure, median } from '../measure.ts'
import { fixed, printTable, type Verdict } from '../report.ts'
import type { Bench } from './bench.ts'

const head = [
  'target',
  'answers/s',
  'p50 ms',
  'p99 ms',
  'CPU-s/1,000',
  'of PostgreSQL',
  'of provider',
  'of generator',
  'its core',
  'the rest',
]

/** Of one core, what is used while that many answers are given in a second: whatever is near 100 % is the bound. */
const coreShare = (perSecond: number, ...cpu: number[]): string =>
  `${fixed((perSecond / 1000) * cpu.reduce((sum, one) => sum + one, 0) * 100)} %`

const lineOf = (name: string, { perSecond, latency, cpu }: Measured): string[] => [
  name,
  fixed(perSecond),
  fixed(latency.p50, 2),
  fixed(latency.p99, 2),
  fixed(cpu.target, 3),
  fixed(cpu.database, 3),
  fixed(cpu.upstream, 3),
  fixed(cpu.generator, 3),
  coreShare(perSecond, cpu.target),
  coreShare(perSecond, cpu.database, cpu.upstream, cpu.generator),
]

export const printLoad = (title: string, seen: Record<string, Measured>): void =>
  printTable(
    title,
    head,
    Object.entries(seen).map(([name, measured]) => lineOf(name, measured)),
  )

const bars = { 32: { bar: 0.3, goal: 0.45 }, 256: { bar: 0.45, goal: 0.6 } }

/** A small chat call in a closed loop: how much of the bare pass-through's throughput is left with everything on. */
export async function throughput(bench: Bench): Promise<Verdict[]> {
  const { installation, options, gateway, passThrough } = bench
  const { trials, seconds } = options
  const verdicts: Verdict[] = []
  for (const connections of [32, 256] as const) {
    const pace = { kind: 'closed' as const, connections, seconds }
    const seen = await compare(installation, [passThrough, gateway], { scenario: 'plain', pace, trials })
    printLoad(`Throughput, ${connections} connections, small chat call, 0 ms upstream`, seen)
    const ratio = seen.gateway.perSecond / seen['pass-through'].perSecond
    verdicts.push({
      what: `throughput of the bare, ${connections} connections`,
      bare: `${fixed(seen['pass-through'].perSecond)}/s`,
      gateway: `${fixed(seen.gateway.perSecond)}/s`,
      value: ratio,
      shown: fixed(ratio, 2),
      ...bars[connections],
      unit: '',
      better: 'more',
    })
    if (connections === 256) verdicts.push(cpuVerdict(seen), await capsVerdict(bench))
  }
  return verdicts
}

/** A token with two spend caps, whose user has a third, beside one without any. */
async function capsVerdict({ installation, options, gateway }: Bench): Promise<Verdict> {
  const pace = { kind: 'closed' as const, connections: 256, seconds: options.seconds }
  const seen: { without: number[]; under: number[] } = { without: [], under: [] }
  for (let trial = 0; trial < options.trials; trial += 1) {
    const under = await measure(installation, gateway, { scenario: 'plain', pace, tokens: 'capped' })
    const without = await measure(installation, gateway, { scenario: 'plain', pace })
    seen.under.push(under.perSecond)
    seen.without.push(without.perSecond)
  }
  const ratio = median(seen.under) / median(seen.without)
  return {
    what: 'throughput under three spend caps, of that without',
    bare: `${fixed(median(seen.without))}/s`,
    gateway: `${fixed(median(seen.under))}/s`,
    value: ratio,
    shown: fixed(ratio, 2),
    bar: 0.6,
    goal: 0.8,
    unit: '',
    better: 'more',
  }
}

const cpuVerdict = (seen: Record<'gateway' | 'pass-through', Measured>): Verdict => ({
  what: 'CPU-s per 1,000 requests',
  bare: fixed(seen['pass-through'].cpu.target, 3),
  gateway: fixed(seen.gateway.cpu.target, 3),
  value: seen.gateway.cpu.target,
  shown: fixed(seen.gateway.cpu.target, 3),
  bar: 0.25,
  goal: 0.15,
  unit: '',
  better: 'less',
})

/** The same with the traffic spread over a thousand users, whose rows are all cold to begin with. */
export async function manyUsers({ installation, options, gateway, passThrough }: Bench): Promise<Verdict[]> {
  const { trials, seconds } = options
  const pace = { kind: 'closed' as const, connections: 256, seconds }
  const seen = await compare(installation, [passThrough, gateway], { scenario: 'plain', pace, tokens: 'many', trials })
  printLoad('Throughput, 256 connections, 1,000 users', seen)
  return []
}
