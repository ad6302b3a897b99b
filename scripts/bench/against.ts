import { startGenerator } from './child.ts'
import type { Load, LoadResult } from './generator/load.ts'
import { fixed, printTable } from './report.ts'

/** A gateway that somebody else started, and what it answers to. */
export type Other = { origin: string; key: string; model: string; seconds: number }

type Named = Pick<Load, 'stream' | 'bodyBytes' | 'maxTokens' | 'pace'> & { what: string }

/** The same loads as our own gateway gets; the first stands apart, because a program that was just started is slower. */
export function loadsOf(seconds: number): Named[] {
  const small = { stream: false, bodyBytes: 300 }
  const open = (perSecond: number) => ({ kind: 'open' as const, perSecond, seconds })
  const closed = (connections: number) => ({ kind: 'closed' as const, connections, seconds })
  return [
    { what: 'first 30 s, 200/s', ...small, pace: { ...open(200), seconds: 30 } },
    { what: 'warm, 200/s', ...small, pace: open(200) },
    { what: 'warm, 500/s', ...small, pace: open(500) },
    ...[1, 32, 256].map((connections) => ({ what: `${connections} connections`, ...small, pace: closed(connections) })),
    { what: 'streams, 64 connections', stream: true, bodyBytes: 300, pace: closed(64) },
    { what: '100 KB prompts, 16 connections', stream: false, bodyBytes: 100_000, pace: closed(16) },
    { what: 'agents, 16 connections', stream: true, bodyBytes: 100_000, maxTokens: 32_000, pace: closed(16) },
  ]
}

const rowOf = (what: string, { answers, failures, seconds, latency, firstToken }: LoadResult): string[] => [
  what,
  fixed(answers / seconds),
  fixed(latency.p50, 1),
  fixed(latency.p99, 1),
  fixed(firstToken.p50, 1),
  fixed(firstToken.p99, 1),
  fixed(failures),
]

/** Sends our loads to any gateway with an OpenAI surface. Whoever compares sets the upstream up alike behind both. */
export async function measureOther({ origin, key, model, seconds }: Other): Promise<boolean> {
  const generator = startGenerator()
  const rows: string[][] = []
  let isComplete = true
  try {
    for (const { what, ...load } of loadsOf(seconds)) {
      const result = await generator.run({ ...load, origin, model, path: '/v1/chat/completions', keys: [key] })
      rows.push(rowOf(what, result))
      if (result.failures === 0) continue
      isComplete = false
      console.log(`${what}: ${result.failures} failed, first with ${result.firstFailure}`)
    }
  } finally {
    await generator.stop()
  }
  const head = ['load', 'answers/s', 'p50 ms', 'p99 ms', 'first token p50', 'p99', 'failed']
  printTable(`${origin}, ${model}: loads as our own gateway gets them`, head, rows)
  return isComplete
}
