import { Client } from 'pg'
import { describe, test } from 'vitest'
import type { TestToken } from '../support/factories.ts'
import { type Product, startProduct, until } from '../support/processes.ts'
import { alterDatabase } from './alter-database.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { callOnce } from './traffic.ts'
import { createWorld, type World } from './world.ts'
import { holdLock } from '#test/support/held-lock.ts'

type Stage = AsyncDisposable & { world: World; product: Product }

async function setStage(WORKERS = '1'): Promise<Stage> {
  const world = await createWorld()
  await world.make.channel()
  const product = await startProduct({ environment: { ...world.environment, WORKERS } })
  return {
    world,
    product,
    [Symbol.asyncDispose]: async () => {
      await product.killAll()
      await world[Symbol.asyncDispose]()
    },
  }
}

async function someone({ make, pool }: World) {
  const user = await make.user({ quota: 1_000_000 })
  // Long enough ago that the console would take note of the next use.
  await pool.query("update sessions set seen_at = now() - interval '1 hour' where user_id = $1", [user.id])
  return { user, token: await make.token(user, { remainQuota: 900_000 }) }
}

type Someone = Awaited<ReturnType<typeof someone>>

const balanceOf = async ({ pool }: World, id: number): Promise<number> =>
  Number((await pool.query('select quota from users where id = $1', [id])).rows[0].quota)

const logged = async ({ pool }: World, requestId: string): Promise<{ quota: number }[]> =>
  (await pool.query('select quota::int from logs where request_id = $1 and type = 2', [requestId])).rows

async function whileLocked<Result>(world: World, lock: string, act: () => Promise<Result>): Promise<Result> {
  await using _ = await holdLock(world.pool, lock)
  return await act()
}

/** What is to be written into these tables finds no room on the disk of the database. */
async function whileFull<Result>({ pool }: World, tables: string[], act: () => Promise<Result>): Promise<Result> {
  await pool.query(`create function full_disk() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`)
  for (const table of tables)
    await pool.query(`create trigger full_disk before insert or update on ${table} execute function full_disk()`)
  try {
    return await act()
  } finally {
    await pool.query('drop function full_disk cascade')
  }
}

/** Somebody looks, or saves. */
async function inConsole({ product }: Stage, user: Someone['user'], act: 'looks' | 'saves') {
  const headers = {
    cookie: `session=${user.sessionId}`,
    'x-user-id': String(user.id),
    'content-type': 'application/json',
    'accept-language': 'en',
  }
  const [path, init] =
    act === 'looks'
      ? ['/api/user/self', {}]
      : ['/api/token/', { method: 'POST', body: JSON.stringify({ name: 'x', expired_time: -1, remain_quota: 1 }) }]
  const reply = await fetch(product.url + path, { ...init, headers })
  return { status: reply.status, body: await reply.json() }
}

const userLock = (id: number): string => `select 1 from users where id = ${id} for update`

/** A call that the upstream has: made again where a busy database does not let it set anything aside in time. */
async function callUnderWay({ world, product }: Stage, token: TestToken, call: Parameters<typeof callOnce>[2]) {
  const { upstream } = world
  const before = upstream.open
  for (;;) {
    const answer = callOnce(product.url, token, call)
    let isOver = false
    void answer.then(() => (isOver = true))
    await until(() => isOver || upstream.open > before, { what: 'the call is not under way' })
    if (!isOver) return { answer }
  }
}

/** Two calls that have their answers when the database is kept from booking them. */
async function callsMeanwhile(stage: Stage, keep: Keep, caller: Someone) {
  const { world } = stage
  const [plain, stream] = [
    await callUnderWay(stage, caller.token, { kind: 'plain', text: '[[gate=locked]] say something' }),
    await callUnderWay(stage, caller.token, { kind: 'stream', text: '[[gate=locked,gateat=5]] tell something' }),
  ]
  // Until both callers have been notified that the settlement was given up.
  return keep(world, caller, () => {
    world.upstream.openGate('locked')
    return Promise.all([plain.answer, stream.answer])
  })
}

type Keep = <Result>(world: World, caller: Someone, act: () => Promise<Result>) => Promise<Result>

describe.concurrent('an answer that cannot be booked', () => {
  test.for([
    ['the log is locked', (world, _, act) => whileLocked(world, 'lock table logs in access exclusive mode', act)],
    ['the row of its user is locked', (world, { user }, act) => whileLocked(world, userLock(user.id), act)],
    ['the disk is full', (world, _, act) => whileFull(world, ['logs'], act)],
  ] as [string, Keep][])(
    'because %s is refused and never charged when plain, ends in an error and is charged once when streamed',
    async ([, keep], { expect }) => {
      await using stage = await setStage()
      const { world } = stage
      const caller = await someone(world)
      const [plain, stream] = await callsMeanwhile(stage, keep, caller)
      expect(plain.status).toBe(503)
      expect(Number(plain.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(JSON.parse(plain.body)).toMatchObject({ error: { type: 'gateway_error' } })
      expect(stream.status).toBe(200)
      expect(stream.body).toContain('"error"')
      expect(stream.body).not.toContain('[DONE]')
      await untilNothingIsHeld(world.pool)
      await until(async () => (await logged(world, stream.id)).length === 1, { what: 'no charge' })
      const [charge] = await logged(world, stream.id)
      expect(charge?.quota).toBeGreaterThan(0)
      // A commit that went through after all is paid back at once.
      await until(async () => (await balanceOf(world, caller.user.id)) === 1_000_000 - (charge?.quota ?? 0), {
        what: 'the plain call was charged',
      })
      expect(await chargeViolations(world.pool, [plain, stream])).toEqual([])
    },
  )
})

test('a user whose row is locked does not keep others from being served', async ({ expect }) => {
  await using stage = await setStage('2')
  const { world, product } = stage
  const [locked, free] = [await someone(world), await someone(world)]
  await whileLocked(world, userLock(locked.user.id), async () => {
    const [refused, ...served] = await Promise.all([
      callOnce(product.url, locked.token, { kind: 'plain' }),
      ...Array.from({ length: 10 }, () => callOnce(product.url, free.token, { kind: 'plain' })),
    ])
    expect(refused.status).toBe(503)
    expect(served.map(({ status }) => status)).toEqual(served.map(() => 200))
  })
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, [])).toEqual([])
})

const bothKinds = ({ url }: { url: string }, token: TestToken) =>
  Promise.all((['plain', 'stream'] as const).map((kind) => callOnce(url, token, { kind })))

test('a database that may only be read serves nothing that it could not bill, and its return is noticed', async ({
  expect,
}) => {
  await using stage = await setStage()
  const { world, product } = stage
  const { user, token } = await someone(world)
  const { database } = world.connection
  const beside = new Client({ ...world.connection, database: 'postgres' })
  await beside.connect()
  const become = (setting: string): Promise<void> => alterDatabase(beside, { database, setting })
  try {
    await become('set default_transaction_read_only = on')
    const refused = await bothKinds(product, token)
    expect(refused.map(({ status }) => status)).toEqual([503, 503])
    expect(refused.every(({ headers }) => headers.get('retry-after') !== null)).toBe(true)
    // The console shows what there is, and says why nothing is saved.
    expect(await inConsole(stage, user, 'looks')).toMatchObject({ status: 200, body: { success: true } })
    expect(await inConsole(stage, user, 'saves')).toEqual({
      status: 503,
      body: { success: false, message: 'Nothing can be saved: the database is read-only' },
    })
    await become('reset default_transaction_read_only')
    await until(async () => (await callOnce(product.url, token, { kind: 'plain' })).status === 200, {
      what: 'it does not come back by itself',
    })
  } finally {
    await beside.end()
  }
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, [])).toEqual([])
})

test('while the disk of the database is full nothing is served that could not be billed, and the console says why', async ({
  expect,
}) => {
  await using stage = await setStage()
  const { world, product } = stage
  const { user, token } = await someone(world)
  await whileFull(world, ['holds', 'tokens', 'sessions'], async () => {
    const refused = await bothKinds(product, token)
    expect(refused.map(({ status }) => status)).toEqual([503, 503])
    expect(world.upstream.total).toBe(0)
    expect(await inConsole(stage, user, 'looks')).toMatchObject({ status: 200, body: { success: true } })
    expect(await inConsole(stage, user, 'saves')).toEqual({
      status: 503,
      body: { success: false, message: 'Nothing can be saved: the disk of the database is full' },
    })
  })
  await until(async () => (await callOnce(product.url, token, { kind: 'plain' })).status === 200, {
    what: 'it does not come back by itself',
  })
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, [])).toEqual([])
})
