import { type Generator, startGenerator } from '../child.ts'
import type { Installation, Target } from '../installation.ts'
import { cpuSecondsOf, pin } from '../machine.ts'
import { median, noteResult, toLoad } from '../measure.ts'
import type { Options } from '../options.ts'
import { fixed, printTable } from '../report.ts'

/** A load on one node or several, in processor seconds for a thousand answers. */
type Spent = { perSecond: number; gateways: number; database: number }

const connections = 128
/** How busy a core may be. */
const share = 0.7

/**
 * One node and two on one database, each with as many connections, compared by processor time, since all share this machine's
 * cores; and what that makes of more. Limits are counted in Redis where `REDIS_URL` says so.
 */
export async function nodes(installation: Installation, options: Options): Promise<void> {
  const both = [await installation.gateway(), await installation.gateway()]
  const generators = [installation.generator, startGenerator()]
  for (const { pid } of generators) pin(pid, 'rest')
  const load = (first: number, last: number, seconds: number): Promise<Spent> =>
    loadAll(installation, { targets: both.slice(first, last), generators: generators.slice(first, last), seconds })
  await load(0, 2, options.warmUpSeconds * 2)
  const alone: Spent[] = []
  const together: Spent[] = []
  for (let trial = 0; trial < options.trials; trial += 1) {
    alone.push(await load(trial % 2, (trial % 2) + 1, options.seconds))
    together.push(await load(0, 2, options.seconds))
  }
  await generators[1]?.stop()
  for (const node of both) await node.stop()
  print(alone, together)
}

function print(alone: Spent[], together: Spent[]): void {
  const of = (trials: Spent[], what: keyof Spent): number => median(trials.map((trial) => trial[what]))
  const row = (count: string, trials: Spent[]): string[] => [
    count,
    fixed(of(trials, 'perSecond')),
    fixed(of(trials, 'gateways'), 3),
    fixed(of(trials, 'database'), 3),
  ]
  const limits = process.env['REDIS_URL'] ? 'limits in Redis' : 'each with limits of its own'
  printTable(
    `Nodes on one database and one core, ${connections} connections each, 1,000 users, ${limits}`,
    ['nodes', 'answers/s', 'gateways CPU-s/1,000', 'of PostgreSQL'],
    [row('1', alone), row('2', together)],
  )
  const gateways = of(together, 'gateways')
  const database = of(together, 'database')
  const times = (2 * of(alone, 'gateways')) / gateways
  console.log(`On cores of their own two nodes would answer ${fixed(times, 2)} times the calls of one.`)
  printTable(
    `What nodes with a core each would answer, every core at ${share * 100} %`,
    ['nodes', 'answers/s', 'cores of PostgreSQL'],
    [1, 2, 10, 100].map((count) => [
      fixed(count),
      fixed((count * share * 1000) / gateways),
      fixed((count * database) / gateways, 1),
    ]),
  )
}

async function loadAll(
  installation: Installation,
  { targets, generators, seconds }: { targets: Target[]; generators: Generator[]; seconds: number },
): Promise<Spent> {
  const pids = targets.map(({ pid }) => pid)
  const look = () => ({
    gateways: pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
    database: cpuSecondsOf(installation.databasePid),
  })
  const input = { scenario: 'plain', pace: { kind: 'closed', connections, seconds }, tokens: 'many' } as const
  const before = look()
  const runs = generators.flatMap((generator, index) => {
    const target = targets[index]
    return target ? [generator.run(toLoad(installation, target, input))] : []
  })
  const results = await Promise.all(runs)
  const after = look()
  let answers = 0
  let perSecond = 0
  for (const result of results) {
    noteResult(installation, { name: 'gateway', scenario: input.scenario }, result)
    answers += result.answers
    perSecond += result.answers / result.seconds
  }
  const each = (what: 'gateways' | 'database'): number => ((after[what] - before[what]) / answers) * 1000
  return { perSecond, gateways: each('gateways'), database: each('database') }
}
