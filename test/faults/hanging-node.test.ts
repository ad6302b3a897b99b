import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Product, startProduct, sendSignal, until } from '../support/processes.ts'
import { see, createFixture, staleAfter, type World as Written } from '../relay/writes-of-every-kind.ts'
import { createWorld, long, type World } from './world.ts'

let world: World
let several: Product
let other: Product

beforeAll(async () => {
  world = await createWorld({ record: true })
  await world.make.option('SelfUseModeEnabled', 'true')
  const start = (WORKERS: string) => startProduct({ environment: { ...world.environment, WORKERS } })
  ;[several, other] = await Promise.all([start('2'), start('1')])
})
afterAll(async () => {
  await Promise.all([several, other].map((product) => product?.killAll()))
  await world[Symbol.asyncDispose]()
})

const writtenThrough = ({ url }: Product): Written => ({ ...world, url })
const complaint = /did not acknowledge a change in time|could not be told/g
const warnings = ({ output }: Product): number => output().match(complaint)?.length ?? 0

test('two workers and another machine serve the very next call by what was saved through any of them', async () => {
  const nodes = [several.url, several.url, other.url]
  const { stale } = await staleAfter(writtenThrough(several), {
    nodes,
    writes: long ? 200 : 40,
    // On a machine that is busy with other things a node may be late, which is said.
    mayLag: () => warnings(several) > 0,
  })
  expect(stale).toEqual([])
})

test('a node that hangs delays no writer for long, is reported, and catches up when it goes on', async () => {
  const fixture = await createFixture(writtenThrough(other))
  const { id } = await world.make.channel({ models: fixture.model })
  await until(async () => (await see(asWritten(), other.url, fixture)).status === 200, { what: 'no channel' })
  const setStatus = async (status: number): Promise<void> => {
    const reply = await fetch(`${several.url}/api/channel/`, {
      method: 'PUT',
      headers: {
        'content-type': 'application/json',
        authorization: fixture.root.accessToken,
        'new-api-user': String(fixture.root.id),
      },
      body: JSON.stringify({ id, status }),
      // Generous: a writer waits for half a second.
      signal: AbortSignal.timeout(60_000),
    })
    expect(await reply.json()).toMatchObject({ success: true })
  }
  const before = warnings(several)
  sendSignal(other.pid, 'SIGSTOP')
  try {
    for (let write = 0; write < 8; write += 1) await setStatus(write % 2 === 0 ? 2 : 1)
    await setStatus(2)
  } finally {
    sendSignal(other.pid, 'SIGCONT')
  }
  // Each of the two workers finds out by itself, once.
  await until(() => warnings(several) > before, { what: 'it is not reported' })
  // On a machine that is busy with other things the other worker may be late as well.
  for (const { url } of [several, other])
    await until(async () => (await see(asWritten(), url, fixture)).status === 503, {
      what: 'it still uses the channel',
    })
  // Each of the two workers finds out by itself that it has come back, from what it answers to a write.
  const isWaitedFor = async (): Promise<boolean> => {
    const reported = warnings(several)
    const { stale } = await staleAfter(writtenThrough(several), {
      nodes: [other.url],
      writes: 1,
      mayLag: () => warnings(several) > reported,
    })
    return stale.length === 0
  }
  await until(isWaitedFor, { what: 'it is not waited for again', seconds: 300 })
})

const asWritten = (): Written => writtenThrough(several)
