import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { ledgerViolations } from '#test/support/ledger-invariant.ts'
import { setOptions, withOptions } from './serve.ts'
import { callerDialects, chat, eventually, rushAt, say } from './caller-dialects.ts'
import { withinAnHour } from '#test/support/within-an-hour.ts'

// Two nodes on one database.
const model = 'gpt-4o'

const one = await startApp()
const other = await startApp({ on: one })
// 1 a token, 4 for those of the answer.
await setOptions(one, {
  ModelRatio: `{"${model}":1,"fixed":1}`,
  ModelPrice: '{"fixed":0.0002}',
  GroupRatio: '{"default":1}',
  PreConsumedQuota: '100',
})
await other.services.options.reload()
await one.make.channel({ models: model, baseUrl: one.upstream.withDirectives('usage=9:20,delay=30') })
await one.make.channel({ models: 'fixed', baseUrl: one.upstream.withDirectives('delay=30') })
await one.services.channels.reload()
await other.services.channels.reload()
beforeEach(() => one.upstream.clear())
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await one[Symbol.asyncDispose]()
})

const perCall = 100

const rush = rushAt(one, other)

const spentOf = async (cap: number): Promise<number> =>
  Number(
    (await one.pool.query('select coalesce(sum(amount), 0) as n from spend_cap_buckets where cap_id = $1', [cap]))
      .rows[0]?.n,
  )

const untilNothingIsHeld = () =>
  eventually(
    async () => Number((await one.pool.query("select count(*) as n from holds where status = 'open'")).rows[0]?.n),
    (open) => open === 0,
  )

describe('two hundred calls at once, on two nodes', () => {
  test('on caps of the token and of the user that pay for twenty: twenty are served, the others refused before any upstream is asked', async () => {
    await withinAnHour()
    const user = await one.make.user()
    const token = await one.make.token(user, { remainQuota: perCall * 500 })
    const day = await one.make.spendCap({ scope: 'token', id: token.id }, { period: 'day', amount: perCall * 20 + 50 })
    const week = await one.make.spendCap({ scope: 'user', id: user.id }, { seconds: 604_800, amount: perCall * 30 })
    const { served, refusals } = await rush(token, 200, chat.body('fixed', 'hello', false))
    expect(served).toBe(20)
    expect(one.upstream.total).toBe(20)
    expect(refusals).toHaveLength(180)
    for (const refusal of refusals) expect(refusal).toMatch(/^429 .*insufficient_quota/)
    expect([await spentOf(day), await spentOf(week)]).toEqual([perCall * 20, perCall * 20])
    expect(await one.violations()).toEqual([])
  })

  test('streams that all grow under one cap end within it, beyond it by no more than what their last events came to', async () => {
    const user = await one.make.user({ quota: 100_000_000 })
    const token = await one.make.token(user)
    const amount = 20_000
    const cap = await one.make.spendCap({ scope: 'user', id: user.id }, { amount })
    const baseUrl = one.upstream.withDirectives('words=800')
    await one.make.channel({ models: 'gpt-4o-long', baseUrl })
    await setOptions(one, { ModelRatio: '{"gpt-4o-long":1,"gpt-4o":1,"fixed":1}' })
    await other.services.options.reload()
    await one.services.channels.reload()
    await other.services.channels.reload()
    const { served } = await rush(token, 20, chat.body('gpt-4o-long', 'hello', true))
    await untilNothingIsHeld()
    expect(served).toBeGreaterThan(0)
    const spent = await spentOf(cap)
    expect(spent).toBeGreaterThan(amount / 2)
    // What a stream may exceed its hold by: an event of a few tokens, at 4 a token.
    expect(spent).toBeLessThanOrEqual(amount + served * 40)
    expect(await one.violations()).toEqual([])
  })

  test('a cap that is raised while they run lets in just as many more', async () => {
    const user = await one.make.user()
    const token = await one.make.token(user)
    const cap = await one.make.spendCap({ scope: 'token', id: token.id }, { amount: perCall * 5 })
    const first = rush(token, 100, chat.body('fixed', 'hello', false))
    await one.pool.query('update spend_caps set amount = $2 where id = $1', [cap, perCall * 12])
    const before = (await first).served
    const after = (await rush(token, 100, chat.body('fixed', 'hello', false))).served
    expect(before + after).toBe(12)
    expect(await spentOf(cap)).toBe(perCall * 12)
  })
})

test('a refusal names the cap, what is left and when it turns, in the dialect of the caller, with Retry-After; a client that retries by itself is asked not to', async () => {
  const user = await one.make.user()
  const token = await one.make.token(user)
  await one.make.spendCap({ scope: 'token', id: token.id }, { period: 'day', zone: 'Asia/Shanghai', amount: 60 })
  for (const dialect of callerDialects) {
    const reply = await say(one, dialect, { token, body: dialect.body('fixed', 'hello', false), model: 'fixed' })
    expect([dialect.dialect, reply.status]).toEqual([dialect.dialect, 429])
    const seconds = Number(reply.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(86_400)
    if (seconds > 60) expect(reply.headers.get('x-should-retry')).toBe('false')
    const error = dialect.readError(await reply.json())
    expect(error.message).toMatch(
      /^令牌在 day Asia\/Shanghai 内的消费上限为 \$0\.000120，还剩 \$0\.000120，本次需要 \$0\.000200，\d{4}-\d\d-\d\dT16:00:00Z 起可用/,
    )
    if (error.code !== undefined) expect(error.code).toBe('insufficient_quota')
  }
  expect(one.upstream.total).toBe(0)
})

test('a cap that is set anew while it is raised lets as many calls run as it says then, whether that is more or less', async () => {
  const user = await one.make.user()
  const token = await one.make.token(user)
  const owner = one.trpc(user).user
  const setTo = (calls: number) =>
    owner.tokens.update.mutate({
      id: token.id,
      name: 'Capped',
      unlimitedQuota: true,
      spendCaps: [{ period: 'rolling', seconds: 18_000, amount: calls * perCall }],
    })
  const raiseTo = async (calls: number) => {
    const [cap] = await owner.spendCaps.list.query()
    const until = new Date(Date.now() + 86_400_000)
    await owner.spendCaps.raise.mutate({ id: cap?.id ?? 0, raise: { amount: calls * perCall, until } })
  }
  const served = async () => (await rush(token, 10, chat.body('fixed', 'hello', false))).served
  await setTo(2)
  await raiseTo(3)
  expect(await served()).toBe(3)
  await setTo(5)
  expect(await served()).toBe(2)
  await raiseTo(20)
  await setTo(6)
  expect(await served()).toBe(1)
  await untilNothingIsHeld()
  expect(await one.violations()).toEqual([])
})

test('without the log of consumption and on a cap of other models a call counts where it should', async () => {
  await setOptions(one, { LogConsumeEnabled: 'false' })
  const user = await one.make.user()
  const token = await one.make.token(user)
  const all = await one.make.spendCap({ scope: 'token', id: token.id }, { amount: perCall * 3 })
  const others = await one.make.spendCap({ scope: 'token', id: token.id }, { amount: 10, models: ['o3*'] })
  expect((await rush(token, 10, chat.body('fixed', 'hello', false))).served).toBe(3)
  expect([await spentOf(all), await spentOf(others)]).toEqual([perCall * 3, 0])
  await setOptions(one, { LogConsumeEnabled: 'true' })
  await untilNothingIsHeld()
  expect(await ledgerViolations(one.pool, { everyCallIsLogged: false })).toEqual([])
})

/** What a cap has counted without what calls hold, and what was charged since it began, noted under its lock when it ends. */
const watchCaps = () =>
  one.pool.query(`
    create table cap_starts (cap_id int primary key, used bigint);
    create table cap_ends (scope text, counted bigint, charged bigint);
    create function used_of(c spend_caps) returns bigint language sql as $$
      select used_quota from users where c.scope = 'user' and id = c.subject_id
      union all select used_quota from tokens where c.scope = 'token' and id = c.subject_id $$;
    create function note_cap() returns trigger language plpgsql as $$ begin
      if tg_op = 'INSERT' then
        insert into cap_starts values (new.id, used_of(new));
        return null;
      end if;
      insert into cap_ends select old.scope,
        (select coalesce(sum(amount), 0) from spend_cap_buckets where cap_id = old.id)
          - (select coalesce(sum(amount), 0) from holds where status = 'open' and caps ? old.id::text),
        used_of(old) - (select used from cap_starts where cap_id = old.id);
      return old;
    end $$;
    create trigger spend_caps_watch_start after insert on spend_caps for each row execute function note_cap();
    create trigger spend_caps_watch_end before delete on spend_caps for each row execute function note_cap();`)

/** Caps that came to their end after something was charged under them. */
async function chargedEnds(): Promise<{ user: number; token: number }> {
  const { rows } = await one.pool.query<{ user: number; token: number }>(
    `select count(*) filter (where scope = 'user')::int as user, count(*) filter (where scope = 'token')::int as token
     from cap_ends where charged <> 0`,
  )
  return rows[0] ?? { user: 0, token: 0 }
}

test('fifty calls at once, while caps are set, raised, lowered and removed: each counts what was charged from its start to its end, with the log of consumption or without', async () => {
  await watchCaps()
  const admin = await one.make.user({ role: 10 })
  for (const isLogged of ['true', 'false']) {
    await setOptions(one, { LogConsumeEnabled: isLogged })
    await other.services.options.reload()
    const user = await one.make.user()
    const token = await one.make.token(user)
    // Before the first cap there are leases.
    await rush(token, 50, chat.body('fixed', 'hello', false))
    const cap = { period: 'day' as const, amount: perCall * 1000 }
    const day = { amount: perCall * 2000, until: new Date(Date.now() + 86_400_000) }
    const byAdmin = {
      set: (caps: (typeof cap)[]) => other.trpc(admin).admin.spendCaps.set.mutate({ userId: user.id, caps }),
      raise: (id: number) => one.trpc(admin).admin.spendCaps.raise.mutate({ id, raise: day }),
    }
    const byOwner = {
      set: async (spendCaps: (typeof cap)[]) => {
        await one
          .trpc(user)
          .user.tokens.update.mutate({ id: token.id, name: 'Changed', unlimitedQuota: true, spendCaps })
        return (await one.trpc(user).user.spendCaps.list.query()).filter(({ scope }) => scope === 'token')
      },
      raise: (id: number) => other.trpc(user).user.spendCaps.raise.mutate({ id, raise: day }),
    }
    let served = 0
    let lanes = 50
    const before = await chargedEnds()
    let isChanged = false
    const call = async () => {
      for (let count = 0; count < 6 || !isChanged; count += 1)
        served += (await rush(token, 1, chat.body('fixed', 'hello', false))).served
      lanes -= 1
    }
    const change = async ({ set, raise }: typeof byAdmin | typeof byOwner) => {
      while (lanes > 0) {
        const [made] = await set([cap])
        await raise(made?.id ?? 0)
        await set([{ ...cap, amount: perCall }])
        await set([])
        const now = await chargedEnds()
        isChanged ||= now.user > before.user + 1 && now.token > before.token + 1
      }
    }
    await Promise.all([...Array.from({ length: 50 }, call), change(byAdmin), change(byOwner)])
    expect(served).toBeGreaterThan(0)
    await untilNothingIsHeld()
  }
  await setOptions(one, { LogConsumeEnabled: 'true' })
  const { rows } = await one.pool.query<Record<'scope' | 'counted' | 'charged', string>>('select * from cap_ends')
  expect(rows.filter(({ counted, charged }) => counted !== charged)).toEqual([])
  await one.pool.query(
    'drop trigger spend_caps_watch_start on spend_caps; drop trigger spend_caps_watch_end on spend_caps',
  )
})

test('with every other limit switched off a cap still holds, for tokens and in the playground alike', async () => {
  const off = {
    SelfUseModeEnabled: 'true',
    ModelRequestRateLimitEnabled: 'false',
    'global.rate_limit_exempt_enabled': 'true',
    'global.rate_limit_exempt_group': 'default',
  }
  const user = await one.make.user()
  // Unlimited, and without a rate limit of its own.
  const token = await one.make.token(user)
  const cap = await one.make.spendCap({ scope: 'user', id: user.id }, { amount: perCall * 3 })
  await withOptions(one, off, async () => {
    await other.services.options.reload()
    expect((await rush(token, 2, chat.body('fixed', 'hello', false))).served).toBe(2)
    const play = () =>
      fetch(`${one.url}/pg/chat/completions`, {
        method: 'POST',
        headers: {
          cookie: `session=${user.sessionId}`,
          'x-user-id': String(user.id),
          'content-type': 'application/json',
        },
        body: JSON.stringify(chat.body('fixed', 'hello', false)),
      })
    expect((await play()).status).toBe(200)
    expect((await play()).status).toBe(429)
    expect((await rush(token, 10, chat.body('fixed', 'hello', false))).served).toBe(0)
  })
  await other.services.options.reload()
  expect(await spentOf(cap)).toBe(perCall * 3)
})
