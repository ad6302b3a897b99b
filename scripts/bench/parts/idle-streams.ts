import { setTimeout as pause } from 'node:timers/promises'
import type { Installation, Target } from '../installation.ts'
import type { Program } from '../child.ts'
import { residentMbOf } from '../machine.ts'
import { measure } from '../measure.ts'
import type { Options } from '../options.ts'
import { fixed, printTable, type Verdict } from '../report.ts'

type Held = { idle: number; before: number; during: number; after: number }

/** What open streams at one event a second cost in memory, in fresh processes that have answered a little before. */
export async function idleStreams(installation: Installation, options: Options): Promise<Verdict[]> {
  const { idleStreams: count } = options
  const bare = await hold(installation, await installation.passThrough(), count)
  const ours = await hold(installation, await installation.gateway(), count)
  const perThousand = ({ before, during }: Held) => ((during - before) / count) * 1000
  const row = (name: string, held: Held) => [
    name,
    ...[held.idle, held.before, held.during, held.after, perThousand(held)].map((megabytes) => fixed(megabytes)),
  ]
  const title = `Memory with ${fixed(count)} open streams of one event a second, MB`
  const head = ['target', 'started', 'warmed up', 'streams open', 'after', 'per 1,000 streams']
  printTable(title, head, [row('pass-through', bare), row('gateway', ours)])
  return [
    {
      what: 'memory at rest, one worker',
      bare: `${fixed(bare.idle)} MB`,
      gateway: `${fixed(ours.idle)} MB`,
      value: ours.idle,
      shown: `${fixed(ours.idle)} MB`,
      bar: 200,
      goal: 150,
      unit: ' MB',
      better: 'less',
    },
    {
      what: 'memory per 1,000 idle streams',
      bare: `${fixed(perThousand(bare))} MB`,
      gateway: `${fixed(perThousand(ours))} MB`,
      value: perThousand(ours),
      shown: `${fixed(perThousand(ours))} MB`,
      bar: 80,
      goal: 55,
      unit: ' MB',
      better: 'less',
    },
  ]
}

async function hold(installation: Installation, target: Target & Program, callers: number): Promise<Held> {
  await pause(1000)
  const idle = residentMbOf(target.pid)
  await measure(installation, target, { scenario: 'stream', pace: { kind: 'open', perSecond: 100, seconds: 2 } })
  const before = residentMbOf(target.pid)
  const pace = { kind: 'burst' as const, callers, overSeconds: 3 }
  const { residentMb: during, firstToken } = await measure(installation, target, { scenario: 'idle', pace })
  if (firstToken.highest > 5000) {
    installation.seen.failures.push(
      `${target.name}: streams waited for one another, so fewer were open than wished for`,
    )
  }
  await pause(1000)
  const after = residentMbOf(target.pid)
  await target.stop()
  return { idle, before, during, after }
}
