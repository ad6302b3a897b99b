import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createHoldRecovery } from '#features/ledger/node.ts'
import { startApp } from '../support/app.ts'
import { until } from '../support/processes.ts'
import { allowUnpriced } from '../relay/serve.ts'
import { see, createFixture, staleAfter } from '../relay/writes-of-every-kind.ts'
import { startDatabaseProxy } from './database-proxy.ts'

// Whoever receives nothing is not waited for: a writer that did would be seen by the time it takes.
const writer = await startApp({ barrierMs: 500 })
const proxy = await startDatabaseProxy(writer.connection)
const reader = await startApp({ on: { ...writer, connection: proxy.connection } })
await allowUnpriced(writer)
const fixture = await createFixture(writer)
const channel = (await writer.make.channel({ models: fixture.model })).id
beforeEach(async () => {
  proxy.restore()
  // By a notice, not by what calls read themselves.
  const tiersOf = () => reader.services.channels.tiers('default', fixture.model).length
  await writer.pool.query('update channels set status = 2 where id = $1', [channel])
  await until(() => tiersOf() === 0 && reader.services.upToDate() === undefined, { what: 'no notice is received' })
  await writer.pool.query('update channels set status = 1 where id = $1', [channel])
  await until(() => tiersOf() === 1, { what: 'no notice is received' })
})
afterAll(async () => {
  await reader[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await writer[Symbol.asyncDispose]()
})

test('a node that lost its connection for notices serves the very next call by what was saved, for as long as it is away', async () => {
  expect((await see(writer, reader.url, fixture)).status).toBe(200)
  proxy.cut()
  await until(() => reader.services.upToDate() !== undefined, { what: 'the loss is not noticed' })
  const { writes, stale } = await staleAfter(writer, { nodes: [reader.url], writes: 25 })
  expect(stale).toEqual([])
  expect(writes).toBeGreaterThanOrEqual(25)
})

test('a node that is answered too late on its connection for notices keeps what its calls have set aside', async () => {
  const user = await writer.make.user({ quota: 1000 })
  const held = { id: 'kept', userId: user.id, tokenId: 0 }
  expect(await reader.services.ledger.reserve({ ...held, amount: 10 })).toMatchObject({ verdict: 'ok' })
  proxy.holdBack()
  await until(() => reader.services.upToDate() !== undefined, { what: 'the loss is not noticed' })
  const look = createHoldRecovery(writer.pool)
  for (let looks = 0; looks < 20; looks += 1) {
    expect(await look()).toEqual({ released: 0 })
    await pause(50)
  }
  expect(await writer.balanceOf(user.id)).toBe(990)
  await reader.services.ledger.release(held)
  expect(await writer.balanceOf(user.id)).toBe(1000)
})

test('a connection for notices that went silent is noticed within seconds, and the node serves by what was saved', async () => {
  expect((await see(writer, reader.url, fixture)).status).toBe(200)
  proxy.silence()
  await writer.pool.query('update channels set status = 2 where id = $1', [channel])
  await writer.pool.query('update tokens set status = 2 where id = $1', [fixture.token.id])
  await until(() => reader.services.upToDate() !== undefined, {
    seconds: 60,
    what: 'the silence is not noticed',
  })
  expect((await see(writer, reader.url, fixture)).status).toBe(401)
  expect(reader.services.channels.tiers('default', fixture.model)).toEqual([])
  await writer.pool.query('update tokens set status = 1 where id = $1', [fixture.token.id])
  expect((await see(writer, reader.url, fixture)).status).toBe(503)
})
