import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clients } from '#test/matrix/clients.ts'
import { describeMatrix } from '#test/matrix/report.ts'
import { runMatrix } from '#test/matrix/run.ts'
import { upstreams } from '#test/matrix/upstreams.ts'
import { startWorld } from '#test/matrix/world.ts'
import { root } from '#scripts/steps.ts'

const app = await startWorld()
afterAll(() => app[Symbol.asyncDispose]())
let cells: Awaited<ReturnType<typeof runMatrix>>
// In a hook, so that its time is counted as this file's: by that the longest files are begun first.
beforeAll(async () => {
  cells = await runMatrix(app)
}, 900_000)

describe.each([...clients])('$label', ({ id }) => {
  test.each([...upstreams])('does everything $label can do, and is refused what it cannot', (upstream) => {
    const failures = cells.flatMap(({ client, upstream: to, feature, outcome }) =>
      client === id && to === upstream.id && outcome.kind === 'failed' ? [`${feature}: ${String(outcome.error)}`] : [],
    )
    expect(failures).toEqual([])
  })
})

test('docs/matrix.md says what this run found', () => {
  expect(readFileSync(join(root, 'docs/matrix.md'), 'utf8')).toBe(describeMatrix(cells))
})

test('after all of it the ledger balances', async () => {
  expect(await app.violations()).toEqual([])
})
