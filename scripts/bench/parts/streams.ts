import { compare } from '../measure.ts'
import { fixed, printTable, type Verdict } from '../report.ts'
import type { Bench } from './bench.ts'
import { printLoad } from './throughput.ts'

/** Streams of 64 events as fast as they go, then paced ones for the delay of the first token. */
export async function streams(bench: Bench): Promise<Verdict[]> {
  const { installation, options, gateway, passThrough } = bench
  const { trials, seconds } = options
  const pace = { kind: 'closed' as const, connections: 32, seconds }
  const seen = await compare(installation, [passThrough, gateway], { scenario: 'stream', pace, trials })
  printLoad('Streams of 64 events without a gap, 32 connections', seen)
  const firstToken = await firstTokens(bench)
  const shown = fixed(seen.gateway.cpu.target, 2)
  return [
    {
      what: '64-event streams, CPU-s per 1,000',
      bare: fixed(seen['pass-through'].cpu.target, 2),
      gateway: shown,
      value: seen.gateway.cpu.target,
      shown,
      bar: 1.1,
      goal: 0.8,
      unit: '',
      better: 'less',
    },
    firstToken,
  ]
}

async function firstTokens({ installation, options, gateway, passThrough }: Bench): Promise<Verdict> {
  const { direct } = installation
  const pace = { kind: 'open' as const, perSecond: 60, seconds: options.seconds }
  const targets = [{ ...direct, name: 'direct' as const }, passThrough, gateway]
  const seen = await compare(installation, targets, { scenario: 'paced', pace, trials: options.trials })
  const rows = Object.entries(seen).map(([name, { firstToken, latency }]) => [
    name,
    ...[firstToken.p50, firstToken.p99, firstToken.p50 - seen.direct.firstToken.p50].map((value) => fixed(value, 1)),
    fixed(latency.p50 - seen.direct.latency.p50, 1),
  ])
  const head = ['target', 'first token p50 ms', 'p99 ms', 'added p50 ms', 'added to the whole p50 ms']
  printTable('First token: 60 streams/s, upstream 50 ms to the first of 64 events, 20 ms between them', head, rows)
  const added = (name: 'pass-through' | 'gateway') => seen[name].firstToken.p99 - seen.direct.firstToken.p99
  return {
    what: 'added to the first token, p99',
    bare: `${fixed(added('pass-through'), 1)} ms`,
    gateway: `${fixed(added('gateway'), 1)} ms`,
    value: added('gateway'),
    shown: `${fixed(added('gateway'), 1)} ms`,
    bar: 15,
    goal: 8,
    unit: ' ms',
    better: 'less',
  }
}
