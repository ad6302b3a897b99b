import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Pool } from 'undici'
import { startEmbedded } from '#db/embedded.ts'
import { migrate } from '#db/orm.ts'
import { startGateway, type Target } from '../bench/installation.ts'
import { describeMachine, residentMbOf } from '../bench/machine.ts'
import { fixed, printTable } from '../bench/report.ts'
import { root } from '../steps.ts'
import { type Answered, ask, connect } from './ask.ts'
import { questions } from './questions.ts'
import { type CallsSeen, type RelayLoad, startRelayLoad } from './relay-load.ts'
import { createRandom } from '#test/seed/random.ts'
import type { Size } from './rows.ts'
import { seedConsole, settle } from './seed.ts'

const usage = `Measures every list, filter and statistic of the console over a large installation.

  npm run bench:console -- [--logs 10000000] [--users 100000] [--channels 10000] [--days 60]
                           [--repeats 20] [--only text] [--keep folder] [--calls 200]

  --only     questions whose name holds the text
  --keep     leaves the filled database in the folder, and uses it where it is there already
  --calls    calls a second through the same process while everything is asked once more; 0 for none
`

const { values } = parseArgs({
  options: {
    logs: { type: 'string', default: '10000000' },
    users: { type: 'string', default: '100000' },
    channels: { type: 'string', default: '10000' },
    days: { type: 'string', default: '60' },
    repeats: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    keep: { type: 'string' },
    calls: { type: 'string', default: '200' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const barMs = 100

function readSize(folder: string): Size {
  const stored = join(folder, 'size.json')
  if (existsSync(stored)) {
    const size = JSON.parse(readFileSync(stored, 'utf8')) as Size
    return { ...size, now: new Date(size.now) }
  }
  const { logs, users, channels, days } = values
  return { logs: Number(logs), users: Number(users), channels: Number(channels), days: Number(days), now: new Date() }
}

/** The folder of the database, and what to do with it afterwards. */
function openFolder(): { folder: string; close: () => void } {
  mkdirSync(join(root, 'data'), { recursive: true })
  if (values.keep !== undefined) {
    mkdirSync(values.keep, { recursive: true })
    return { folder: resolve(values.keep), close: () => {} }
  }
  const folder = mkdtempSync(join(root, 'data/bench-console-'))
  return { folder, close: () => rmSync(folder, { recursive: true, force: true }) }
}

async function fill(connection: Parameters<typeof migrate>[0], folder: string, size: Size): Promise<void> {
  await migrate(connection)
  if (existsSync(join(folder, 'size.json'))) return settle(connection)
  const startedAt = performance.now()
  console.log(
    `filling: ${fixed(size.logs)} logs of ${size.days} days, ${fixed(size.users)} users, ${fixed(size.channels)} channels …`,
  )
  await seedConsole(connection, size)
  await settle(connection)
  writeFileSync(join(folder, 'size.json'), JSON.stringify(size))
  console.log(`filled in ${fixed((performance.now() - startedAt) / 1000)} s`)
}

const askAll = async (pool: Pool, size: Size): Promise<Answered[]> => {
  const answers: Answered[] = []
  for (const question of questions.filter(({ what }) => what.includes(values.only))) {
    answers.push(await ask(pool, question, { size, random: createRandom(7), repeats: Number(values.repeats) }))
  }
  return answers
}

/** Prints every figure; says whether all of those without other work are below the bar. */
function report(answers: Answered[], besideCalls: Answered[]): boolean {
  const isOver = (answered: Answered | undefined): boolean => answered !== undefined && answered.p95 > barMs
  const rows = answers.map((alone, index) => {
    const beside = besideCalls[index]
    const times = [alone.p50, alone.p95, ...(beside ? [beside.p50, beside.p95] : [])]
    const over = isOver(alone) ? 'OVER' : isOver(beside) ? 'beside calls' : ''
    return [alone.what, ...times.map((ms) => fixed(ms, 1)), fixed(alone.bytes / 1024, 1), over]
  })
  const beside = besideCalls.length === 0 ? [] : [`p50 at ${values.calls} calls/s`, 'p95']
  printTable('Console and documented paths, ms', ['what', 'p50', 'p95', ...beside, 'kB', `over ${barMs} ms`], rows)
  const [over, overBeside] = [answers, besideCalls].map((all) => all.filter(isOver).length)
  console.log(
    `\n${answers.length} asked, ${over} over ${barMs} ms at p95, ${overBeside} of ${besideCalls.length} beside calls.`,
  )
  return over === 0
}

const reportCalls = (alone: CallsSeen, beside: CallsSeen): void =>
  printTable(
    `Calls at ${values.calls}/s of a 50 ms upstream, ms`,
    ['', 'answers', 'p50', 'p99'],
    [
      ['by themselves', fixed(alone.answers), fixed(alone.p50, 1), fixed(alone.p99, 1)],
      ['while the console is asked', fixed(beside.answers), fixed(beside.p50, 1), fixed(beside.p99, 1)],
    ],
  )

/** Asks everything by itself, and then beside calls that the same process relays. */
async function compare(gateway: Target, load: RelayLoad | undefined, size: Size): Promise<boolean> {
  const pool = connect(gateway.origin)
  try {
    const answers = await askAll(pool, size)
    if (!load) return report(answers, [])
    const alone = await load.alone(gateway.origin, 30)
    const { result, seen } = await load.beside(gateway.origin, () => askAll(pool, size))
    const isFast = report(answers, result)
    reportCalls(alone, seen)
    return isFast
  } finally {
    await pool.close()
  }
}

async function run(): Promise<boolean> {
  console.log(describeMachine())
  const { folder, close } = openFolder()
  const database = await startEmbedded({ dataDir: folder })
  try {
    const size = readSize(folder)
    await fill(database.connection, folder, size)
    const load = Number(values.calls) > 0 ? await startRelayLoad(database.connection, Number(values.calls)) : undefined
    const gateway = await startGateway({ database, folder })
    try {
      const isFast = await compare(gateway, load, size)
      console.log(`The process holds ${fixed(residentMbOf(gateway.pid))} MB afterwards.`)
      return isFast
    } finally {
      await gateway.stop()
      await load?.stop()
    }
  } finally {
    await database.stop()
    close()
  }
}

if (values.help) console.log(usage)
else process.exitCode = (await run()) ? 0 : 1
