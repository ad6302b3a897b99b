import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Product, startProduct, sendSignal, until } from '../support/processes.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { callOnce, type Outcome, startTraffic } from './traffic.ts'
import { createWorld, long } from './world.ts'

const seconds = long ? 3600 : 3
const looks = long ? 100 : 2

const strayErrors = new URL('../support/stray-errors.mjs', import.meta.url).href

const jsonOptions = ['ModelRatio', 'CompletionRatio', 'GroupRatio', 'UserUsableGroups', 'ModelPrice', 'Chats']

/** What no caller may ever see: where in the code something broke. */
const revealsCode = /broken on purpose|\n\s+at .+:\d+:\d+|node_modules|file:\/\/|\.ts:\d+/

type Junk = { path: string; method?: string; body?: string; headers?: Record<string, string> }

const junk = (key: string): Junk[] => {
  const bearer = { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' }
  const call = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'say' }] })
  return [
    { path: '/v1/chat/completions', method: 'POST', body: call, headers: { ...bearer, 'x-flaw': 'x-request-id' } },
    { path: '/v1/chat/completions', method: 'POST', body: call, headers: { ...bearer, 'x-flaw': 'content-type' } },
    { path: '/v1/models', headers: { ...bearer, 'x-flaw': 'access-control-allow-origin' } },
    { path: '/api/status', headers: { 'x-flaw': 'x-request-id' } },
    { path: '/trpc/site.status', headers: { 'x-flaw': 'content-type' } },
    {
      path: '/trpc/auth.login?batch=1',
      method: 'POST',
      body: '{"0":{"json":{"username":{"toString":1}}}}',
      headers: bearer,
    },
    { path: '/v1/chat/completions', method: 'POST', body: '{"model":', headers: bearer },
    { path: '/v1/chat/completions', method: 'POST', body: '[[[', headers: { ...bearer, 'content-encoding': 'gzip' } },
    { path: '/api/user/login', method: 'POST', body: '{"username":', headers: bearer },
    { path: '/api/log/?p=-1&page_size=NaN', headers: bearer },
    { path: '/v1/nothing/here', headers: bearer },
    { path: '/%E0%A4%A', headers: {} },
  ]
}

/** `used`: what is left after a collection of garbage. `resident`: what the system has given, free parts of the heap included. */
type Memory = { minute: number; used: number; resident: number }

/** Asks each of the processes what memory it has, which they write into the folder, and adds that up in megabytes. */
async function memoryOf(pids: number[], folder: string): Promise<Omit<Memory, 'minute'>> {
  const written = (pid: number): string[] => {
    const path = join(folder, String(pid))
    // A line that is not ended is still being written.
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  }
  const before = pids.map((pid) => written(pid).length)
  for (const pid of pids) sendSignal(pid, 'SIGURG')
  await until(() => pids.every((pid, index) => written(pid).length > (before[index] ?? 0)), {
    what: 'a process does not report its memory',
  })
  const reports = pids.map((pid) => JSON.parse(written(pid).at(-1) as string) as { used: number; rss: number })
  const megabytes = (bytes: number[]): number => bytes.reduce((sum, each) => sum + each, 0) / 1024 / 1024
  return { used: megabytes(reports.map(({ used }) => used)), resident: megabytes(reports.map(({ rss }) => rss)) }
}

/** Least squares, in megabytes a minute. */
function slopeOf(samples: Memory[]): number {
  const mean = (of: (sample: Memory) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length
  const [x, y] = [mean(({ minute }) => minute), mean(({ used }) => used)]
  const above = mean(({ minute, used }) => (minute - x) * (used - y))
  return above / mean(({ minute }) => (minute - x) ** 2)
}

/** Asks for every kind of junk again and again, and keeps what came back. */
function startJunk(product: Product, key: string) {
  const bodies: string[] = []
  let stopping = false
  const asking = (async () => {
    while (!stopping) {
      for (const { path, method = 'GET', body, headers = {} } of junk(key)) {
        const reply = await fetch(product.url + path, {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
        }).catch(() => null)
        if (reply) bodies.push(`${path} ${reply.status} ${await reply.text().catch(() => '')}`)
      }
      await pause(50)
    }
  })()
  return {
    bodies,
    stop: async () => {
      stopping = true
      await asking
    },
  }
}

test('errors that nobody caught, broken handlers and options that are no JSON leave every process alive, tell callers nothing of the code and cost nobody', async () => {
  await using world = await createWorld()
  await world.make.channel()
  const folder = await mkdtemp(join(tmpdir(), 'memory-'))
  await using product = await startProduct({
    isPatient: true,
    environment: {
      ...world.environment,
      WORKERS: '2',
      NODE_OPTIONS: `--import=${strayErrors}`,
      MEMORY_FOLDER: folder,
    },
  })
  const workers = product.workers()
  expect(workers).toHaveLength(2)
  const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
  for (const key of jsonOptions) await world.make.option(key, '{"gpt-4o-mini": ')
  await until(() => product.output().includes('options cannot be read'), {
    what: 'nobody minds the options',
  })
  // Until both workers have received it.
  await until(
    async () => {
      await fetch(`${product.url}/api/status`, { headers: { 'x-flaw': 'stray', connection: 'close' } }).then((reply) =>
        reply.text(),
      )
      return (
        new Set(
          product
            .output()
            .match(/"pid":(\d+)[^\n]*an error that nobody caught/g)
            ?.map((line) => /\d+/.exec(line)?.[0]),
        ).size === 2
      )
    },
    { what: () => `the errors do not come:\n${product.output().slice(-2000)}` },
  )
  const asked = startJunk(product, token.key)
  const samples: Memory[] = []
  const outcomes: Outcome[] = []
  const begin = performance.now()
  const isGood = ({ kind }: Outcome): boolean => kind === 'plain' || kind === 'stream'
  while (
    performance.now() - begin < seconds * 1000 ||
    asked.bodies.length < 60 ||
    outcomes.filter(isGood).length <= 20
  ) {
    using traffic = startTraffic({
      urls: [product.url],
      tokens: [token],
      kinds: ['plain', 'stream', 'failing', 'hung-up'],
      concurrency: 6,
    })
    await pause((seconds * 1000) / looks)
    // Between calls: what they have while they are under way is no leak, and changes with how many a busy machine lets through.
    outcomes.push(...(await traffic.stop()))
    const memory = await memoryOf([product.pid, ...workers], folder)
    samples.push({ minute: (performance.now() - begin) / 60_000, ...memory })
  }
  await asked.stop()

  expect(product.workers().toSorted()).toEqual(workers.toSorted())
  expect(product.output()).not.toContain('is replaced')
  expect([...asked.bodies, ...outcomes.map(({ body }) => body)].filter((body) => revealsCode.test(body))).toEqual([])
  const good = outcomes.filter(isGood)
  expect(good.length).toBeGreaterThan(20)
  expect(good.filter(({ complete }) => !complete)).toEqual([])
  // Resident memory goes up and down by what V8 keeps of its heap for later; what is in use is what a leak would add to.
  expect(Math.max(...samples.map(({ resident }) => resident))).toBeLessThan(1500)
  if (long) expect(slopeOf(samples.slice(samples.length / 4)), JSON.stringify(samples)).toBeLessThan(0.2)
  expect(await callOnce(product.url, token, { kind: 'plain' })).toMatchObject({ status: 200 })
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, outcomes)).toEqual([])
  expect(await product.stop()).toEqual({ code: 0, signal: null })
})
