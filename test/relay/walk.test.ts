import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { callOnce } from '../faults/traffic.ts'
import { createWorld } from '../faults/world.ts'
import { startProduct } from '../support/processes.ts'

/** How far whoever reads a call from its arrival to its charge has to go through the stages of the relay. */
const most = { files: 35, returns: 13 }
const stages = /^relay\/(chat-call\.ts|(request|routing|attempt|response|billing)\/)/

const world = await createWorld()
await world.make.channel()
const trace = join(await mkdtemp(join(tmpdir(), 'walk-')), 'trace.json')
const tracer = new URL('../support/trace-functions.mjs', import.meta.url).href
// From its sources, whose files and functions are counted.
const environment = {
  ...world.environment,
  WORKERS: '1',
  SERVER_BUILD: '',
  NODE_OPTIONS: `--import=${tracer}`,
  TRACE_FILE: trace,
}
const product = await startProduct({ environment, isPatient: true })
afterAll(async () => {
  await product.killAll()
  await world[Symbol.asyncDispose]()
})

/** The files of functions in the order of their first call, and how often the way leads back to one that was left. */
function walkOf(places: readonly string[]): { files: string[]; returns: number } {
  const visits = places
    .map((place) => place.split(' ')[0] as string)
    .filter((file) => stages.test(file))
    .filter((file, at, all) => file !== all[at - 1])
  const files = [...new Set(visits)]
  return { files, returns: visits.length - files.length }
}

test('a stream’s way from request to charge does not grow in files nor in returns to one that was left, and loads nothing of spans', async () => {
  const token = await world.make.token(await world.make.user())
  for (let calls = 0; calls < 2; calls += 1)
    expect((await callOnce(product.url, token, { kind: 'stream', text: 'hello' })).status).toBe(200)
  const { entered, loaded } = JSON.parse(await readFile(trace, 'utf8')) as { entered: string[]; loaded: string[] }
  const { files, returns } = walkOf(entered)
  // Nobody configured an exporter of spans: nothing of them is loaded, and no call enters a function of theirs.
  expect(loaded).toContain('relay/chat-call.ts')
  expect(loaded.filter((path) => /@opentelemetry\/(?!api\/)|tracing\/spans/.test(path))).toEqual([])
  expect(entered.filter((place) => place.startsWith('relay/tracing/'))).toEqual([])
  expect(entered.at(-1)).toBe('src/features/ledger/service.ts settle')
  expect(files.length).toBeLessThanOrEqual(most.files)
  expect(returns).toBeLessThanOrEqual(most.returns)
})
