import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Other } from './against.ts'

const partNames = [
  'idle',
  'cold',
  'throughput',
  'latency',
  'streams',
  'events',
  'bodies',
  'agents',
  'users',
  'workers',
  'nodes',
  'profile',
] as const
export type PartName = (typeof partNames)[number]

export const usage = `Measures the gateway beside a bare pass-through on this machine.

  npm run bench -- [--only ${partNames.join(',')}] [--quick] [--trials 3] [--seconds 3] [--profile folder]

  npm run bench -- --against http://host:port --key sk-… [--model gpt-4o-mini] [--seconds 3]

  --against  sends the same loads to any gateway with an OpenAI surface, without starting anything of ours
  --only     these parts alone
  --quick    one short trial of each: shows that everything works, not how fast it is
  --profile  keeps the CPU profiles of the gateway (WORKERS=1) in the folder
`

export type Options = {
  parts: readonly PartName[]
  /** Whether the figures count; a quick run shows only that everything works. */
  measures: boolean
  trials: number
  seconds: number
  warmUpSeconds: number
  idleStreams: number
  coldSeconds: number
  workers: number
  profile: string | undefined
  other: Other | undefined
}

const isPart = (name: string): name is PartName => partNames.some((known) => known === name)

/** Null where only the usage was asked for. */
export function readOptions(args: string[]): Options | null {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      trials: { type: 'string' },
      seconds: { type: 'string' },
      profile: { type: 'string' },
      against: { type: 'string' },
      key: { type: 'string' },
      model: { type: 'string', default: 'gpt-4o-mini' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const requested = values.only?.split(',') ?? [...partNames]
  const unknown = requested.find((name) => !isPart(name))
  if (unknown !== undefined) throw new Error(`there is no part "${unknown}", only ${partNames.join(', ')}`)
  const { quick, against, key, model } = values
  if (against !== undefined && key === undefined) throw new Error('--against needs --key')
  const seconds = Number(values.seconds ?? (quick ? 0.5 : 3))
  return {
    parts: requested.filter(isPart),
    measures: !quick,
    trials: Number(values.trials ?? (quick ? 1 : 3)),
    seconds,
    warmUpSeconds: quick ? 0.3 : 4,
    idleStreams: quick ? 50 : 1000,
    coldSeconds: quick ? 1 : 30,
    workers: availableParallelism(),
    profile: values.profile,
    other: against === undefined ? undefined : { origin: new URL(against).origin, key: key ?? '', model, seconds },
  }
}
