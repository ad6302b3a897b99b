import { compare } from '../measure.ts'
import { fixed, type Verdict } from '../report.ts'
import type { Bench } from './bench.ts'
import { printLoad } from './throughput.ts'

/** Calls as coding agents make them: a long conversation, a streamed answer, and an output limit far above what is used of it. */
export async function agents({ installation, options, gateway, passThrough }: Bench): Promise<Verdict[]> {
  const pace = { kind: 'closed' as const, connections: 16, seconds: options.seconds }
  const input = { scenario: 'stream' as const, pace, bodyBytes: 100_000, maxTokens: 32_000, trials: options.trials }
  const seen = await compare(installation, [passThrough, gateway], input)
  printLoad('Agents: 100 KB, a limit of 32,000 tokens, 64 events, 16 connections', seen)
  const shown = fixed(seen.gateway.cpu.target, 2)
  return [
    {
      what: "agents' calls, CPU-s per 1,000",
      bare: fixed(seen['pass-through'].cpu.target, 2),
      gateway: shown,
      value: seen.gateway.cpu.target,
      shown,
      bar: 2.2,
      goal: 1.6,
      unit: '',
      better: 'less',
    },
  ]
}
