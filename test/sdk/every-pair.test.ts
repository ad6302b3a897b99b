import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clients } from '#test/matrix/clients.ts'
import { features } from '#test/matrix/features.ts'
import { describeMatrix } from '#test/matrix/report.ts'
import { type Cell, expectedCells, isOfSixth, runMatrix } from '#test/matrix/run.ts'
import { upstreams } from '#test/matrix/upstreams.ts'
import { startWorld } from '#test/matrix/world.ts'
import { long } from '#test/support/long.ts'
import { root } from '#scripts/steps.ts'

const app = await startWorld()
afterAll(() => app[Symbol.asyncDispose]())
let cells: Cell[]
// In a hook, so that its time is counted as this file's: by that the longest files are begun first.
beforeAll(async () => {
  cells = await runMatrix(app, long ? undefined : isOfSixth)
}, 900_000)

describe.each([...clients])('$label', ({ id }) => {
  test.each([...upstreams])('does everything $label can do, and is refused what it cannot', (upstream) => {
    const failures = cells.flatMap(({ client, upstream: to, feature, outcome }) =>
      client === id && to === upstream.id && outcome.kind === 'failed' ? [`${feature}: ${String(outcome.error)}`] : [],
    )
    expect(failures).toEqual([])
  })
})

// A cell that departs from the table of limits has failed above.
test('docs/matrix.md says what the table of limits says', () => {
  expect(readFileSync(join(root, 'docs/matrix.md'), 'utf8')).toBe(describeMatrix(expectedCells()))
})

test('each library meets each upstream, and each feature every library and every upstream', () => {
  const met = (names: (cell: Cell) => string) => new Set(cells.map(names)).size
  expect(met(({ client, upstream }) => `${client} ${upstream}`)).toBe(clients.length * upstreams.length)
  expect(met(({ client, feature }) => `${client} ${feature}`)).toBe(clients.length * features.length)
  expect(met(({ upstream, feature }) => `${upstream} ${feature}`)).toBe(upstreams.length * features.length)
})

test('after all of it the ledger balances', async () => {
  expect(await app.violations()).toEqual([])
})
