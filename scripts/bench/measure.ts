import type { Load, LoadResult, Milliseconds } from './generator/load.ts'
import type { Installation, Target, TargetName } from './installation.ts'
import { cpuSecondsOf, residentMbOf } from './machine.ts'
import { spreadOf } from './noise.ts'
import { type ScenarioName, scenarios } from './scenarios.ts'

export type Measured = {
  answers: number
  perSecond: number
  latency: Milliseconds
  firstToken: Milliseconds
  /** Processor seconds for a thousand answers. */
  cpu: { target: number; database: number; upstream: number; generator: number }
  /** The most that the target held meanwhile. */
  residentMb: number
}

export type Input = {
  scenario: ScenarioName
  pace: Load['pace']
  bodyBytes?: number
  maxTokens?: number
  /** Whose tokens; one busy user's without. */
  tokens?: 'many' | 'capped'
}

export function toLoad({ world }: Installation, target: Target, input: Input): Load {
  const { model, directives, stream } = scenarios[input.scenario]
  const { pace, bodyBytes = 300, maxTokens } = input
  return {
    origin: target.origin,
    // The gateway's channels carry the directives; the other targets are asked for them.
    path: target.name === 'gateway' ? '/v1/chat/completions' : `/~${directives}/v1/chat/completions`,
    keys: world[input.tokens ?? 'one'],
    model,
    stream,
    bodyBytes,
    maxTokens,
    pace,
  }
}

/** What decides in the end whether the run counts. */
export function noteResult(
  { seen }: Installation,
  { name, scenario }: { name: TargetName; scenario: ScenarioName },
  { answers, failures, refusals, firstFailure }: LoadResult,
): void {
  if (name === 'gateway') seen.answers += answers
  if (failures === 0) return
  const list = name === 'gateway' && failures === refusals ? seen.refusals : seen.failures
  list.push(`${name}, ${scenario}: ${failures} failed, first with ${firstFailure}`)
}

/** Sends one load to one target and watches everybody's processor time. */
export async function measure(installation: Installation, target: Target, input: Input): Promise<Measured> {
  const { generator, upstream, databasePid } = installation
  const pids = { target: target.pid, database: databasePid, upstream: upstream.pid, generator: generator.pid }
  const look = () => Object.values(pids).map(cpuSecondsOf)
  let residentMb = residentMbOf(target.pid)
  const watch = setInterval(() => (residentMb = Math.max(residentMb, residentMbOf(target.pid))), 250)
  const before = look()
  const result: LoadResult = await generator.run(toLoad(installation, target, input))
  const after = look()
  clearInterval(watch)
  noteResult(installation, { name: target.name, scenario: input.scenario }, result)
  const spent = after.map((value, index) => ((value - (before[index] ?? 0)) / result.answers) * 1000)
  const [ofTarget = 0, database = 0, ofUpstream = 0, ofGenerator = 0] = spent
  const { answers, latency, firstToken } = result
  return {
    answers,
    latency,
    firstToken,
    perSecond: result.answers / result.seconds,
    cpu: { target: ofTarget, database, upstream: ofUpstream, generator: ofGenerator },
    residentMb,
  }
}

export const median = (values: number[]): number => {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ item }) => item)
}

/** Median of each figure; answers are added up. */
function medianOf(trials: Measured[]): Measured {
  const of = (pick: (trial: Measured) => number) => median(trials.map(pick))
  const times = (pick: (trial: Measured) => Milliseconds): Milliseconds => ({
    p50: of((trial) => pick(trial).p50),
    p99: of((trial) => pick(trial).p99),
    highest: of((trial) => pick(trial).highest),
  })
  return {
    answers: trials.reduce((sum, trial) => sum + trial.answers, 0),
    perSecond: of((trial) => trial.perSecond),
    latency: times((trial) => trial.latency),
    firstToken: times((trial) => trial.firstToken),
    cpu: {
      target: of((trial) => trial.cpu.target),
      database: of((trial) => trial.cpu.database),
      upstream: of((trial) => trial.cpu.upstream),
      generator: of((trial) => trial.cpu.generator),
    },
    residentMb: Math.max(...trials.map((trial) => trial.residentMb)),
  }
}

const describePace = ({ pace }: Input): string =>
  pace.kind === 'closed' ? `${pace.connections} connections` : pace.kind === 'open' ? `${pace.perSecond}/s` : 'a burst'

/** Runs a load on every target in turn, in random order, several times; gives the medians. */
export async function compare<Name extends TargetName>(
  installation: Installation,
  targets: (Target & { name: Name })[],
  input: Input & { trials: number },
): Promise<Record<Name, Measured>> {
  const seen = new Map<string, Measured[]>(targets.map(({ name }) => [name, []]))
  for (let trial = 0; trial < input.trials; trial += 1) {
    for (const target of shuffled(targets)) seen.get(target.name)?.push(await measure(installation, target, input))
  }
  for (const [name, trials] of seen) {
    const what = `${name}, ${input.scenario}, ${describePace(input)}`
    installation.seen.spreads.push({ what, share: spreadOf(trials.map(({ perSecond }) => perSecond)) })
  }
  return Object.fromEntries([...seen].map(([name, trials]) => [name, medianOf(trials)])) as Record<Name, Measured>
}
