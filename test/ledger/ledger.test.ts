import { spawn, spawnSync } from 'node:child_process'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Pool } from 'pg'
import { createHoldRecovery } from '#features/ledger/node.ts'
import { grant, type Ledger } from '#features/ledger/service.ts'
import { ownProcess } from '#features/system/process-identity.ts'
import { logType } from '#core/statuses.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { startLedgerWorld } from '../support/ledger-world.ts'

let ledger: Ledger
const world = await startLedgerWorld()
beforeEach(() => {
  ledger = world.ledgerWith()
})

test('of 200 concurrent reservations exactly as many succeed as can be paid, on two nodes', async () => {
  const user = await world.make.user({ quota: 1_000_000 })
  const token = await world.make.token(user, { remainQuota: 20 * 100 })
  const nodes = [ledger, world.ledgerWith({ nodeId: 2 })]
  const verdicts = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      (nodes[index % 2] as Ledger).reserve({ id: world.newId(), userId: user.id, tokenId: token.id, amount: 100 }),
    ),
  )
  expect(verdicts.filter(({ verdict }) => verdict === 'ok')).toHaveLength(20)
  expect(verdicts.filter(({ verdict }) => verdict === 'token_insufficient')).toHaveLength(180)
  expect(await world.balanceOf(user.id)).toBe(1_000_000 - 2000)
  expect(await world.tokenOf(token.id)).toMatchObject({ remain: 0, status: 1 })
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a user without balance is refused although the token has quota, and neither is changed', async () => {
  const user = await world.make.user({ quota: 250 })
  const token = await world.make.token(user, { remainQuota: 10_000 })
  const verdicts = await Promise.all(
    Array.from({ length: 40 }, () =>
      ledger.reserve({ id: world.newId(), userId: user.id, tokenId: token.id, amount: 100 }),
    ),
  )
  expect(verdicts.filter(({ verdict }) => verdict === 'ok')).toHaveLength(2)
  expect(await world.balanceOf(user.id)).toBe(50)
  expect(await world.tokenOf(token.id)).toMatchObject({ remain: 10_000 - 200 })
})

test('settling books the difference, the log row and every counter in one commit', async () => {
  const user = await world.make.user({ quota: 1000 })
  const token = await world.make.token(user, { remainQuota: 500 })
  const channel = await world.make.channel()
  const id = world.newId()
  await ledger.reserve({ id, userId: user.id, tokenId: token.id, amount: 300 })
  const after = await ledger.settle(
    world.chargeOf({
      id,
      userId: user.id,
      tokenId: token.id,
      channelId: channel.id,
      quota: 120,
      other: { model_ratio: 1 },
    }),
    'go-on',
  )
  expect(after.userQuota).toBe(880)
  expect(await world.tokenOf(token.id)).toEqual({ remain: 380, used: 120, status: 1 })
  expect(await world.openHolds(user.id)).toBe(0)
  const { rows } = await world.pool.query('select * from logs where request_id = $1', [id])
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({ quota: '120', type: 2, other: { model_ratio: 1 } })
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('an unlimited token keeps its remainder and counts what it used', async () => {
  const user = await world.make.user({ quota: 1000 })
  const token = await world.make.token(user, { unlimited: true, remainQuota: 7 })
  const id = world.newId()
  await ledger.reserve({ id, userId: user.id, tokenId: token.id, amount: 300 })
  await ledger.settle(world.chargeOf({ id, userId: user.id, tokenId: token.id, quota: 400 }), 'go-on')
  expect(await world.tokenOf(token.id)).toEqual({ remain: 7, used: 400, status: 1 })
  expect(await world.balanceOf(user.id)).toBe(600)
})

test('a charge above its reservation is applied in full, and the token then is exhausted', async () => {
  const user = await world.make.user({ quota: 1000 })
  const token = await world.make.token(user, { remainQuota: 300 })
  const id = world.newId()
  await ledger.reserve({ id, userId: user.id, tokenId: token.id, amount: 300 })
  await ledger.settle(world.chargeOf({ id, userId: user.id, tokenId: token.id, quota: 350 }), 'go-on')
  expect(await world.tokenOf(token.id)).toEqual({ remain: -50, used: 350, status: 4 })
  const next = await ledger.reserve({ id: world.newId(), userId: user.id, tokenId: token.id, amount: 1 })
  expect(next.verdict).toBe('token_exhausted')
})

test('the same charge sent twice is booked once', async () => {
  const user = await world.make.user({ quota: 1000 })
  const id = world.newId()
  await ledger.reserve({ id, userId: user.id, tokenId: 0, amount: 300 })
  const row = world.chargeOf({ id, userId: user.id, tokenId: 0, quota: 120 })
  await Promise.all([ledger.settle(row, 'go-on'), world.ledgerWith({ nodeId: 2 }).settle(row, 'go-on')])
  await ledger.settle(row, 'go-on')
  expect(await world.balanceOf(user.id)).toBe(880)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a charge that meets a lost or released hold is booked in full', async () => {
  const user = await world.make.user({ quota: 1000 })
  await ledger.settle(world.chargeOf({ id: world.newId(), userId: user.id, tokenId: 0, quota: 100 }), 'go-on')
  expect(await world.balanceOf(user.id)).toBe(900)
  const id = world.newId()
  await world.ledgerWith({ nodeId: 77 }).reserve({ id, userId: user.id, tokenId: 0, amount: 300 })
  await world.pool.query('select ledger_release_node(77)')
  expect(await world.balanceOf(user.id)).toBe(900)
  await ledger.settle(world.chargeOf({ id, userId: user.id, tokenId: 0, quota: 50 }), 'go-on')
  expect(await world.balanceOf(user.id)).toBe(850)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a release gives user and token everything back and lifts an exhausted token', async () => {
  const user = await world.make.user({ quota: 1000 })
  const token = await world.make.token(user, { remainQuota: 300 })
  const id = world.newId()
  await ledger.reserve({ id, userId: user.id, tokenId: token.id, amount: 300 })
  await world.pool.query('update tokens set status = 4 where id = $1', [token.id])
  await ledger.release({ id, userId: user.id, tokenId: token.id })
  await ledger.release({ id, userId: user.id, tokenId: token.id })
  expect(await world.balanceOf(user.id)).toBe(1000)
  expect(await world.tokenOf(token.id)).toEqual({ remain: 300, used: 0, status: 1 })
})

test('a more expensive attempt raises its hold, and only if that can be paid', async () => {
  const user = await world.make.user({ quota: 1000 })
  const id = world.newId()
  await ledger.reserve({ id, userId: user.id, tokenId: 0, amount: 300 })
  expect((await ledger.reserve({ id, userId: user.id, tokenId: 0, amount: 700 })).verdict).toBe('ok')
  expect(await world.balanceOf(user.id)).toBe(300)
  expect((await ledger.reserve({ id, userId: user.id, tokenId: 0, amount: 200 })).verdict).toBe('ok')
  expect(await world.balanceOf(user.id)).toBe(300)
  expect((await ledger.reserve({ id, userId: user.id, tokenId: 0, amount: 1001 })).verdict).toBe('user_insufficient')
  await ledger.release({ id, userId: user.id, tokenId: 0 })
  expect(await world.balanceOf(user.id)).toBe(1000)
})

test('a free call starts on an empty balance, any other does not', async () => {
  const user = await world.make.user({ quota: 0 })
  expect((await ledger.reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 0 })).verdict).toBe('ok')
  expect((await ledger.reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 1 })).verdict).toBe(
    'user_insufficient',
  )
})

test('holds of a process whose lock is free on two checks are released, holds of a running one are not', async () => {
  const user = await world.make.user({ quota: 1000 })
  await world.ledgerWith({ nodeId: 501 }).reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 300 })
  await world.ledgerWith({ nodeId: 502 }).reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 100 })
  const living = await world.pool.connect()
  onTestFinished(() => living.release(true))
  await living.query('select pg_advisory_lock(7301, 502)')
  const recover = createHoldRecovery(world.pool)
  await recover()
  expect(await world.balanceOf(user.id)).toBe(600)
  await recover()
  expect(await world.balanceOf(user.id)).toBe(900)
})

test('right after an outage of the database nobody is taken for dead: the living take their locks again', async () => {
  const user = await world.make.user({ quota: 1000 })
  await world.ledgerWith({ nodeId: 503 }).reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 300 })
  let isBroken = true
  const pool = {
    query: async (...query: Parameters<Pool['query']>) => {
      if (isBroken) throw new Error('the database restarts')
      return world.pool.query(...query)
    },
  } as unknown as Pool
  const recover = createHoldRecovery(pool)
  await expect(recover()).rejects.toThrow('the database restarts')
  isBroken = false
  for (let look = 0; look < 3; look += 1) expect(await recover()).toEqual({ released: 0 })
  expect(await world.balanceOf(user.id)).toBe(700)
})

test('right after its own session was lost a process takes nobody for dead, though its looks succeed', async () => {
  const user = await world.make.user({ quota: 1000 })
  await world.ledgerWith({ nodeId: 504 }).reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 300 })
  let lose = (): void => {}
  const recover = createHoldRecovery(world.pool, { onLost: (listener) => void (lose = listener) })
  await recover()
  // As when the server ends all sessions at once: the living come back one after another.
  lose()
  for (let look = 0; look < 3; look += 1) await recover()
  expect(await world.balanceOf(user.id)).toBe(700)
})

test('a process that has just started takes nobody for dead: the living may have lost their sessions right before', async () => {
  const user = await world.make.user({ quota: 1000 })
  await world.ledgerWith({ nodeId: 505 }).reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 300 })
  const recover = createHoldRecovery(world.pool, { onLost: () => {} })
  for (let look = 0; look < 3; look += 1) expect(await recover()).toEqual({ released: 0 })
  expect(await world.balanceOf(user.id)).toBe(700)
})

test('what a process of this machine held is given back at the first look after its end, also by a process that has just started', async () => {
  const user = await world.make.user({ quota: 1000 })
  const running = spawn('sleep', ['600'])
  const ended = spawnSync('true').pid
  const [host, boot, pids, times, , start] = ownProcess()?.split(' ') ?? []
  const hold = async (nodeId: number, name: string, address = 'host(inet_client_addr())') => {
    await world.pool.query(
      `insert into nodes (id, host, pid, role, version, started_at, process, address)
       values ($1, '', 0, '', '', now(), $2, ${address})`,
      [nodeId, name],
    )
    await world.ledgerWith({ nodeId }).reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 100 })
  }
  // All without their locks, as after a loss of all sessions.
  await hold(506, ownProcess() ?? '')
  await hold(507, `${host} another-boot ${pids} ${times} ${ended} ${start}`)
  await hold(508, `${host} ${boot} another-container ${times} ${ended} ${start}`)
  await hold(511, `another-host ${boot} ${pids} ${times} ${ended} ${start}`)
  await hold(512, `${host} ${boot} ${pids} other-times ${ended} ${start}`)
  const over = `${host} ${boot} ${pids} ${times} ${ended} ${start}`
  // A copy of this machine, made while it ran.
  await hold(513, over, "'192.0.2.1'")
  expect(await createHoldRecovery(world.pool, { onLost: () => {} })()).toEqual({ released: 0 })
  await hold(509, over)
  // The number of one that ended was given to another since.
  await hold(510, `${host} ${boot} ${pids} ${times} ${running.pid} 1`)
  expect(await createHoldRecovery(world.pool, { onLost: () => {} })()).toEqual({ released: 2 })
  expect(await world.balanceOf(user.id)).toBe(400)
  running.kill()
})

test('a grant is booked once however often it is sent, from however many nodes', async () => {
  const user = await world.make.user({ quota: 0 })
  const booked = await Promise.all(
    Array.from({ length: 20 }, () =>
      grant(world.em(), {
        kind: 'top_up',
        key: `order-${user.id}`,
        userId: user.id,
        amount: 500,
        log: { type: logType.topUp, content: 'x', username: user.username },
      }),
    ),
  )
  expect(booked.filter(Boolean)).toHaveLength(1)
  expect(await world.balanceOf(user.id)).toBe(500)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('batches of many users, tokens and channels from four nodes at once neither deadlock nor lose a unit', async () => {
  const users = await Promise.all(Array.from({ length: 8 }, () => world.make.user({ quota: 100_000 })))
  const tokens = await Promise.all(users.map((user) => world.make.token(user, { remainQuota: 100_000 })))
  const channels = await Promise.all(Array.from({ length: 4 }, () => world.make.channel()))
  const nodes = [11, 12, 13, 14].map((nodeId) => world.ledgerWith({ nodeId }))
  await Promise.all(
    Array.from({ length: 800 }, async (_, index) => {
      const node = nodes[index % 4] as Ledger
      const at = (index * 7) % 8
      const call = { id: world.newId(), userId: users[at]?.id ?? 0, tokenId: tokens[at]?.id ?? 0 }
      const { verdict } = await node.reserve({ ...call, amount: 100 + (index % 50) })
      expect(verdict).toBe('ok')
      if (index % 5 === 0) return node.release(call)
      return void (await node.settle(
        world.chargeOf({ ...call, channelId: channels[(index * 3) % 4]?.id ?? 0, quota: index % 150 }),
        'go-on',
      ))
    }),
  )
  expect(await ledgerViolations(world.pool)).toEqual([])
  for (const token of tokens) expect((await world.tokenOf(token.id)).remain).toBeGreaterThan(0)
})

test('a text with a NUL character cannot stop the batch it is in', async () => {
  const user = await world.make.user({ quota: 1000 })
  const row = world.chargeOf({ id: world.newId(), userId: user.id, tokenId: 0, quota: 10 })
  await ledger.settle(
    { ...row, content: 'a\0b', modelName: 'm\0x', other: { input: 'x\0y', quote: 'a \\u0000 b' } },
    'go-on',
  )
  expect(await world.balanceOf(user.id)).toBe(990)
  const { rows } = await world.pool.query('select other from logs where request_id = $1', [row.id])
  expect(rows[0]?.other.quote).toBe('a \\u0000 b')
})
