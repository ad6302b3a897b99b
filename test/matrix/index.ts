import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '#db/embedded.ts'
import { migrate } from '#db/orm.ts'
import { root } from '#scripts/steps.ts'
import { startUpstream } from '#test/simulator/index.ts'
import { countOf, describeMatrix } from './report.ts'
import { type Cell, runMatrix } from './run.ts'
import { startWorld } from './world.ts'

/** Runs every library against every upstream and prints what works; `--write` puts the page into docs/matrix.md. */
const { values } = parseArgs({ options: { write: { type: 'boolean' } } })

async function runAlone(): Promise<Cell[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-matrix-'))
  const database = await startEmbedded({ dataDir: folder, testing: true })
  await migrate(database.connection)
  const upstream = await startUpstream()
  const app = await startWorld({ connection: database.connection, upstream })
  try {
    return await runMatrix(app)
  } finally {
    await app[Symbol.asyncDispose]()
    await upstream.close()
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const startedAt = performance.now()
const cells = await runAlone()
const page = describeMatrix(cells)
if (values.write) writeFileSync(join(root, 'docs/matrix.md'), page)
else console.log(page)
for (const { client, upstream, feature, outcome } of cells) {
  if (outcome.kind !== 'failed') continue
  const { error } = outcome
  console.error(`${client} × ${upstream} × ${feature}: ${error instanceof Error ? error.message : String(error)}`)
}
const seconds = Math.round((performance.now() - startedAt) / 1000)
console.log(
  `${cells.length} cells in ${seconds} s: ${countOf(cells, 'passed')} pass, ${countOf(cells, 'limited')} limited, ${countOf(cells, 'failed')} fail`,
)
process.exitCode = countOf(cells, 'failed') === 0 ? 0 : 1
