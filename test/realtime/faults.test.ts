import { expect, test } from 'vitest'
import { untilNothingIsHeld } from '../faults/ledger-check.ts'
import { createWorld } from '../faults/world.ts'
import { eventually } from '../relay/caller-dialects.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { startProduct, sendSignal, until, untilSomebodyWaits } from '../support/processes.ts'
import { ask, converse, model, oneHold, open } from './world.ts'
import { holdLock } from '#test/support/held-lock.ts'

async function startOn(environment: Record<string, string>) {
  const world = await createWorld()
  await world.make.channel({ models: model })
  const user = await world.make.user({ quota: 1_000_000 })
  const token = await world.make.token(user)
  const product = await startProduct({ isPatient: true, environment: { ...world.environment, ...environment } })
  return {
    world,
    product,
    openSession: () => open({ url: product.url, key: token.key }),
    balance: async () =>
      Number((await world.pool.query('select quota from users where id = $1', [user.id])).rows[0]?.quota),
    charges: async () =>
      (
        await world.pool.query<{ quota: number; end: string | null }>(
          "select quota::int, other->>'end' as end from logs where type = 2 order by created_at, id",
        )
      ).rows,
    [Symbol.asyncDispose]: async () => {
      await product.killAll()
      await world[Symbol.asyncDispose]()
    },
  }
}

// (40 + 60 × 4) × 2.5.
const charged = 700

test('a worker killed in the middle of a session keeps what was charged and gives the open hold back', async () => {
  await using running = await startOn({ WORKERS: '2' })
  const session = await running.openSession()
  await converse(session, '[[usage=40:60]] Hello')
  ask(session, '[[gap=100,words=400]] Hello')
  await session.next('response.output_audio_transcript.delta')
  // What the conversation and the answer come to is set aside, as the answer grows.
  const settled = 1_000_000 - charged
  await expect.poll(running.balance).toBeLessThan(settled - oneHold)
  for (const worker of running.product.workers()) sendSignal(worker, 'SIGKILL')
  expect(await session.closed).toMatchObject({ code: 1006 })
  await untilNothingIsHeld(running.world.pool)
  expect(await running.balance()).toBe(1_000_000 - charged)
  expect(await running.charges()).toEqual([{ quota: charged, end: null }])
  expect(await ledgerViolations(running.world.pool)).toEqual([])
  // Who was put in their place serves on.
  const later = await eventually(
    () => running.openSession().catch(() => null),
    (found) => found !== null,
  )
  await converse(later as NonNullable<typeof later>, '[[usage=40:60]] Hello')
  expect(await running.charges()).toHaveLength(2)
  later?.socket.close()
})

test('asked to stop, sessions are ended at the deadline with an error event, and what was delivered is charged', async () => {
  await using running = await startOn({ WORKERS: '1', STOP_SECONDS: '15' })
  const [busy, idle] = [await running.openSession(), await running.openSession()]
  await idle.next('session.created')
  ask(busy, '[[gap=50,words=1200]] Hello')
  await busy.next('response.output_audio_transcript.delta')
  const stopped = running.product.stop()
  await until(async () => (await running.product.health()) !== 200, { what: 'it is still ready' })
  const before = busy.events.length
  for (const session of [busy, idle]) {
    expect(await session.next('error')).toMatchObject({ error: { type: 'gateway_error' } })
    expect(await session.closed).toMatchObject({ code: 1012 })
  }
  // Until then the answer went on.
  expect(busy.events.slice(before).some(({ type }) => type.endsWith('.delta'))).toBe(true)
  expect(await stopped).toEqual({ code: 0, signal: null })
  const [row, ...more] = await running.charges()
  expect(more).toEqual([])
  expect(row).toMatchObject({ end: 'failed' })
  expect(row?.quota).toBeGreaterThan(0)
  expect(await running.balance()).toBe(1_000_000 - (row?.quota ?? 0))
  expect(await ledgerViolations(running.world.pool)).toEqual([])
})

test('asked to stop, a session whose response ends in time is not given another one', async () => {
  await using running = await startOn({ WORKERS: '1', STOP_SECONDS: '100' })
  const session = await running.openSession()
  ask(session, '[[usage=40:60,words=20,gate=stopping,gateat=12]] Hello')
  await session.next('response.output_audio_transcript.delta')
  const stopped = running.product.stop()
  await until(async () => (await running.product.health()) !== 200, { what: 'it is still ready' })
  running.world.upstream.openGate('stopping')
  await session.next('response.done')
  expect(await session.next('error')).toMatchObject({ error: { type: 'gateway_error' } })
  expect(await session.closed).toMatchObject({ code: 1012 })
  expect(await stopped).toEqual({ code: 0, signal: null })
  expect(await running.charges()).toEqual([{ quota: charged, end: null }])
})

test('a database that is away when a response ends keeps its end back, and the charge is made once it is there', async () => {
  await using running = await startOn({ WORKERS: '1' })
  const { pool } = running.world
  const session = await running.openSession()
  ask(session, '[[usage=40:60,words=20,gate=locked,gateat=12]] Hello')
  // What the answer comes to is set aside by then.
  await session.next('response.output_audio_transcript.delta')
  // Whoever holds the account's row keeps every charge of it waiting.
  await using unlock = await holdLock(pool, 'select id from users for update')
  running.world.upstream.openGate('locked')
  await session.next('response.output_audio_transcript.done')
  await untilSomebodyWaits(pool)
  expect(session.events.some((event) => event.type === 'response.done')).toBe(false)
  await unlock()
  await session.next('response.done')
  expect(await running.charges()).toEqual([{ quota: charged, end: null }])
  session.socket.close()
  await untilNothingIsHeld(pool)
  expect(await ledgerViolations(pool)).toEqual([])
})
