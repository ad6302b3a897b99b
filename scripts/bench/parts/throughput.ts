import { compare, type Measured } from '../measure.ts'
import { fixed, printTable, type Verdict } from '../report.ts'
import type { Bench } from './bench.ts'

const head = ['target', 'answers/s', 'p50 ms', 'p99 ms', 'CPU-s/1,000', 'of PostgreSQL', 'of provider', 'of generator']

const lineOf = (name: string, { perSecond, latency, cpu }: Measured): string[] => [
  name,
  fixed(perSecond),
  fixed(latency.p50, 2),
  fixed(latency.p99, 2),
  fixed(cpu.target, 3),
  fixed(cpu.database, 3),
  fixed(cpu.upstream, 3),
  fixed(cpu.generator, 3),
]

export const printLoad = (title: string, seen: Record<string, Measured>): void =>
  printTable(
    title,
    head,
    Object.entries(seen).map(([name, measured]) => lineOf(name, measured)),
  )

const bars = { 32: { bar: 0.3, goal: 0.45 }, 256: { bar: 0.45, goal: 0.6 } }

/** A small chat call in a closed loop: how much of the bare pass-through's throughput is left with everything on. */
export async function throughput({ installation, options, gateway, passThrough }: Bench): Promise<Verdict[]> {
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
    if (connections === 256) verdicts.push(cpuVerdict(seen))
  }
  return verdicts
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
  const seen = await compare(installation, [passThrough, gateway], { scenario: 'plain', pace, manyUsers: true, trials })
  printLoad('Throughput, 256 connections, 1,000 users', seen)
  return []
}
