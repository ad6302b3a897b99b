import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '#db/embedded.ts'
import { migrate } from '#db/orm.ts'
import { startGateway } from '../bench/installation.ts'
import { describeMachine, residentMbOf } from '../bench/machine.ts'
import { fixed, printTable } from '../bench/report.ts'
import { root } from '../steps.ts'
import { type Answered, ask, connect } from './ask.ts'
import { questions } from './questions.ts'
import { createRandom } from '#test/seed/random.ts'
import type { Size } from './rows.ts'
import { seedConsole, settle } from './seed.ts'

const usage = `Measures every list, filter and statistic of the console over a large installation.

  npm run bench:console -- [--logs 10000000] [--users 100000] [--channels 10000] [--days 60]
                           [--repeats 20] [--only text] [--keep folder]

  --only     questions whose name holds the text
  --keep     leaves the filled database in the folder, and uses it where it is there already
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

function report(answers: Answered[]): boolean {
  const rows = answers.map(({ what, p50, p95, bytes }) => [
    what,
    fixed(p50, 1),
    fixed(p95, 1),
    fixed(bytes / 1024, 1),
    p95 > barMs ? 'OVER' : '',
  ])
  printTable('Console and documented paths, ms', ['what', 'p50', 'p95', 'kB', `over ${barMs} ms`], rows)
  const over = answers.filter(({ p95 }) => p95 > barMs)
  console.log(`\n${answers.length} asked, ${over.length} over ${barMs} ms at p95.`)
  return over.length === 0
}

async function run(): Promise<boolean> {
  console.log(describeMachine())
  const { folder, close } = openFolder()
  const database = await startEmbedded({ dataDir: folder })
  try {
    const size = readSize(folder)
    await fill(database.connection, folder, size)
    const gateway = await startGateway({ database, folder })
    const pool = connect(gateway.origin)
    try {
      const answers: Answered[] = []
      for (const question of questions.filter(({ what }) => what.includes(values.only))) {
        answers.push(await ask(pool, question, { size, random: createRandom(7), repeats: Number(values.repeats) }))
      }
      const isFast = report(answers)
      console.log(`The process holds ${fixed(residentMbOf(gateway.pid))} MB afterwards.`)
      return isFast
    } finally {
      await pool.close()
      await gateway.stop()
    }
  } finally {
    await database.stop()
    close()
  }
}

if (values.help) console.log(usage)
else process.exitCode = (await run()) ? 0 : 1
