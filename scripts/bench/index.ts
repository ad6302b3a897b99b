import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { measureOther } from './against.ts'
import { install, type Installation } from './installation.ts'
import { ledgerFaults } from './ledger-check.ts'
import { canPin, describeMachine, residentMbOf } from './machine.ts'
import { measure } from './measure.ts'
import { noiseOf } from './noise.ts'
import { type Options, type PartName, readOptions, usage } from './options.ts'
import { agents } from './parts/agents.ts'
import type { Bench } from './parts/bench.ts'
import { bodies } from './parts/bodies.ts'
import { cold } from './parts/cold.ts'
import { events } from './parts/events.ts'
import { idleStreams } from './parts/idle-streams.ts'
import { latency } from './parts/latency.ts'
import { nodes } from './parts/nodes.ts'
import { profile } from './parts/profile.ts'
import { streams } from './parts/streams.ts'
import { manyUsers, throughput } from './parts/throughput.ts'
import { workers } from './parts/workers.ts'
import { fixed, printTable, printVerdicts, type Verdict } from './report.ts'

const paired: Partial<Record<PartName, (bench: Bench) => Promise<Verdict[]>>> = {
  throughput,
  latency,
  streams,
  events,
  bodies,
  agents,
  users: manyUsers,
}

function describe({ trials, seconds, parts }: Options): void {
  console.log(describeMachine())
  console.log(
    `Gateway with authentication, limited token, reserve, settle, log and hourly sums on, PostgreSQL with fsync; one worker
unless said otherwise. Bare: Express 5 with undici.request over one pool, streaming both ways, nothing else.
${canPin ? 'Target on the first core; provider, generator and PostgreSQL on the others.' : 'Nothing is bound to a core.'}
${trials} trials of ${seconds} s each in random order, medians. Parts: ${parts.join(', ')}.`,
  )
}

/** The parts that compare one worker with one bare process, on processes that have been warmed up. */
async function runPaired(installation: Installation, options: Options): Promise<Verdict[]> {
  const wanted = options.parts.flatMap((name) => paired[name] ?? [])
  if (wanted.length === 0) return []
  const gateway = await installation.gateway()
  const passThrough = await installation.passThrough()
  await pause(500)
  const memory = [residentMbOf(gateway.pid)]
  const pace = { kind: 'closed' as const, connections: 64, seconds: options.warmUpSeconds }
  for (const target of [gateway, passThrough]) {
    for (const scenario of ['plain', 'stream'] as const) await measure(installation, target, { scenario, pace })
  }
  memory.push((await measure(installation, gateway, { scenario: 'plain', pace })).residentMb)
  const verdicts: Verdict[] = []
  for (const part of wanted) verdicts.push(...(await part({ installation, options, gateway, passThrough })))
  await pause(1000)
  memory.push(residentMbOf(gateway.pid))
  printTable(
    'Memory of the gateway, MB',
    ['idle', 'under load', 'after everything'],
    [memory.map((value) => fixed(value))],
  )
  await gateway.stop()
  await passThrough.stop()
  return verdicts
}

async function run(options: Options): Promise<boolean> {
  const startedAt = performance.now()
  const [load = 0] = loadavg()
  describe(options)
  const installation = await install()
  try {
    const verdicts = options.parts.includes('idle') ? await idleStreams(installation, options) : []
    if (options.parts.includes('cold')) verdicts.push(...(await cold(installation, options)))
    verdicts.push(...(await runPaired(installation, options)))
    if (options.parts.includes('workers')) await workers(installation, options)
    if (options.parts.includes('nodes')) await nodes(installation, options)
    if (options.parts.includes('profile')) await profile(installation, options)
    if (verdicts.length > 0) printVerdicts(verdicts)
    const { answers, refusals, failures, spreads } = installation.seen
    const noise = options.measures ? noiseOf({ load, cores: availableParallelism(), spreads }) : []
    // On a machine that stalls for seconds calls are refused, as they should be. It costs figures, which a quick run has none of.
    if (options.measures) failures.push(...refusals)
    else for (const refusal of refusals) console.log(refusal)
    const faults = [...failures, ...(await ledgerFaults(installation.world.pool, answers))]
    const minutes = fixed((performance.now() - startedAt) / 60_000, 1)
    console.log(`\n${fixed(answers)} answers of the gateway in a run of ${minutes} minutes.`)
    if (faults.length === 0) console.log('Every answer has its log row and all sums agree.')
    else console.log(`THIS RUN IS VOID:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    if (noise.length > 0)
      console.log(`THIS RUN IS NOISY, do not quote it:\n${noise.map((why) => `  ${why}`).join('\n')}`)
    return faults.length + noise.length === 0
  } finally {
    await installation.close()
  }
}

const options = readOptions(process.argv.slice(2))
if (options === null) console.log(usage)
else process.exitCode = (await (options.other ? measureOther(options.other) : run(options))) ? 0 : 1
