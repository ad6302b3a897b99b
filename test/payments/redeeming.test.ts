import { Redis } from 'ioredis'
import { beforeEach, describe, expect, it } from 'vitest'
import { createLimits } from '#features/limits/service.ts'
import { type Person, startFileConsole } from '#test/support/console-app.ts'
import { ledgerViolations } from '#test/support/ledger-invariant.ts'
import { freePort } from '#test/support/processes.ts'

const app = await startFileConsole()
const admin = await app.person({ role: 10 })
beforeEach(async () => {
  await app.sql('delete from options')
  await app.services.options.reload()
})

type Fields = Record<string, unknown>
const make = async (fields: Fields = {}): Promise<string> => {
  const reply = await (
    await app.signedIn(admin)
  ).post('/api/redemption/', { name: 'codes', quota: 1000, count: 1, ...fields })
  expect(reply.body).toMatchObject({ success: true })
  return (reply.data as string[])[0] ?? ''
}
const stored = async (key: string) =>
  (await app.sql('select * from redemptions where key_hash = $1', [app.services.secrets.hmac(key)]))[0] ?? {}
const people = (count: number) => Promise.all(Array.from({ length: count }, () => app.person()))
const redeem = async (person: Person, key: string, turnstile?: string) =>
  (await app.signedIn(person)).post('/api/user/topup', { key }, turnstile ? { query: { turnstile } } : {})
const balance = async (person: Person) =>
  Number((await app.sql('select quota from users where id = $1', [person.id]))[0]?.['quota'])
const ledgerHolds = async () => expect(await ledgerViolations(app.services.database.pool)).toEqual([])
const messages = (replies: { body: Fields }[]) => replies.map(({ body }) => body['message'])

describe('a code', () => {
  it('is credited once for fifty people who redeem it at once', async () => {
    const key = await make({ quota: 70_000 })
    const crowd = await people(50)
    const replies = await Promise.all(crowd.map((person) => redeem(person, key)))
    expect(replies.filter(({ body }) => body['success'])).toMatchObject([{ data: { quota: 70_000, is_gift: false } }])
    expect(messages(replies).filter((message) => message === '兑换失败，该兑换码已被使用')).toHaveLength(49)
    const balances = await Promise.all(crowd.map(balance))
    expect(balances.toSorted((left, right) => right - left).slice(0, 2)).toEqual([70_000, 0])
    expect(await stored(key)).toMatchObject({ status: 3, used_count: 1 })
    await ledgerHolds()
  })

  it('is credited once to somebody who presses fifty times, with one log row', async () => {
    const key = await make()
    const [person] = (await people(1)) as [Person]
    const replies = await Promise.all(Array.from({ length: 50 }, () => redeem(person, key)))
    expect(replies.filter(({ body }) => body['success'])).toHaveLength(1)
    expect(await balance(person)).toBe(1000)
    const { id } = await stored(key)
    expect(await app.sql('select type, quota, content from logs where user_id = $1', [person.id])).toEqual([
      { type: 1, quota: '1000', content: `通过兑换码充值 $0.002000，兑换码 ID ${String(id)}` },
    ])
    const used = { redemptionId: Number(id), name: 'codes', quota: 1000, isGift: false }
    expect((await (await app.trpc(person)).user.redemptions.uses({})).items).toMatchObject([used])
    expect(await (await app.trpc(person)).user.redemptions.uses({ page: 2 })).toMatchObject({ items: [], total: 1 })
    expect((await (await app.trpc(admin)).user.redemptions.uses({})).items).toEqual([])
    await ledgerHolds()
  })

  it('given to ten goes to ten of fifty people who each ask twice at once, and is used up then', async () => {
    const key = await make({ is_gift: true, max_uses: 10 })
    const crowd = await people(50)
    const replies = await Promise.all([...crowd, ...crowd].map((person) => redeem(person, key)))
    const happy = replies.filter(({ body }) => body['success'])
    expect(happy).toHaveLength(10)
    expect(happy[0]?.data).toEqual({ quota: 1000, is_gift: true })
    const usedUp = messages(replies).filter((message) => message === '兑换失败，该礼品码已达到使用次数上限')
    expect(usedUp.length).toBeGreaterThanOrEqual(80)
    const balances = await Promise.all(crowd.map(balance))
    expect(balances.filter((quota) => quota === 1000)).toHaveLength(10)
    expect(balances.filter((quota) => quota === 0)).toHaveLength(40)
    expect(await stored(key)).toMatchObject({ status: 3, used_count: 10 })
    await ledgerHolds()
  })

  it('given to everybody goes to each of them once', async () => {
    const key = await make({ is_gift: true })
    const crowd = await people(3)
    for (const person of crowd) expect((await redeem(person, key)).body['success']).toBe(true)
    const again = await redeem(crowd[0] as Person, key)
    expect(again.body).toEqual({ success: false, message: '兑换失败，你已经使用过该礼品码' })
    expect(await stored(key)).toMatchObject({ status: 1, used_count: 3 })
    await ledgerHolds()
  })

  it.each([
    ['a second before it begins', "valid_from = now() + interval '1 second'", '兑换失败，该兑换码尚未生效'],
    ['as it begins', 'valid_from = now()', ''],
    ['a second after it began', "valid_from = now() - interval '1 second'", ''],
    ['a second before its end', "valid_until = now() + interval '1 second'", ''],
    ['as it ends', 'valid_until = now()', ''],
    ['a second after its end', "valid_until = now() - interval '1 second'", '兑换失败，该兑换码已过期'],
  ])('redeemed %s is decided by the clock of the database', async (_when, columns, message) => {
    // Of a process that is five minutes ahead, and of one that is behind.
    for (const skew of [300_000, -300_000]) {
      const key = await make()
      const [person] = (await people(1)) as [Person]
      const ambient = { ...app.services.ambient, now: () => new Date(Date.now() + skew) }
      // Within a transaction the clock of the database stands still.
      const outcome = await app.services.database.orm.em.fork().transactional(async (em) => {
        const sql = `update redemptions set ${columns} where key_hash = ?`
        await em.getConnection().execute(sql, [app.services.secrets.hmac(key)], 'run', em.getTransactionContext())
        const api = await app.trpc(person, { ambient, em })
        return api.user.redemptions.redeem({ key }).then(
          () => '',
          (error: Error) => error.message,
        )
      })
      expect(outcome).toBe(message)
      expect(await balance(person)).toBe(message === '' ? 1000 : 0)
    }
  })

  it('that is disabled or deleted gives nothing, a gift neither', async () => {
    const [person] = (await people(1)) as [Person]
    for (const isGift of [false, true]) {
      const key = await make({ is_gift: isGift })
      const { id } = await stored(key)
      const browser = await app.signedIn(admin)
      await browser.put('/api/redemption/', { id, status: 2 }, { query: { status_only: 'true' } })
      expect((await redeem(person, key)).body['message']).toBe('兑换失败，该兑换码已被禁用')
      await browser.delete(`/api/redemption/${String(id)}/`)
      expect((await redeem(person, key)).body['message']).toBe('兑换失败，无效的兑换码')
    }
    expect(await balance(person)).toBe(0)
  })

  it.each([
    [{}, '请输入兑换码！'],
    [{ key: '' }, '请输入兑换码！'],
    [{ key: '  ' }, '请输入兑换码！'],
    [{ key: null }, '请输入兑换码！'],
    [{ key: { a: 1 } }, '请求参数无效：'],
    [{ key: 'x\0y' }, '请求参数无效：'],
  ])('is not %j', async (body, message) => {
    const [person] = (await people(1)) as [Person]
    const reply = await (await app.signedIn(person)).post('/api/user/topup', body)
    expect(reply).toMatchObject({ status: 200, body: { success: false, message: expect.stringContaining(message) } })
  })
})

describe('guesses', () => {
  it('are slowed down for each user, and codes that exist are no guesses', async () => {
    const [guesser, other] = (await people(2)) as [Person, Person]
    const statuses: number[] = []
    for (let count = 0; count < 61; count += 1) statuses.push((await redeem(guesser, `guess ${count}`)).status)
    expect(statuses.slice(0, 60).every((status) => status === 200)).toBe(true)
    expect(statuses[60]).toBe(429)
    const key = await make()
    expect((await redeem(guesser, key)).status).toBe(429)
    expect((await redeem(other, key)).body['success']).toBe(true)
    for (let count = 0; count < 70; count += 1) {
      expect((await redeem(other, key)).body['message']).toBe('兑换失败，该兑换码已被使用')
    }
  })

  it('are slowed down for each address, under whatever accounts', async () => {
    const client = { ip: '203.0.113.77', userAgent: '', secure: false, loopback: false, origin: 'http://localhost' }
    const refusals: string[] = []
    for (const person of await people(3)) {
      const api = await app.trpc(person, { client })
      for (let count = 0; count < 45; count += 1) {
        await api.user.redemptions.redeem({ key: `g${count}` }).catch((error: Error) => refusals.push(error.message))
      }
    }
    expect(refusals.filter((message) => message === '请求次数过多，请稍后再试！')).toHaveLength(15)
  })
})

describe('while Redis is stopped', () => {
  it('a code is credited once for forty people at once, and guesses are slowed down', async () => {
    const stopped = new Redis(await freePort(), '127.0.0.1', { maxRetriesPerRequest: 1, commandTimeout: 100 })
    stopped.on('error', () => {})
    const errors: unknown[] = []
    const limits = createLimits({ redis: stopped, onError: (error) => errors.push(error) })
    const key = await make({ quota: 70_000 })
    const crowd = await people(40)
    const outcomes = await Promise.allSettled(
      crowd.map(async (person) => (await app.trpc(person, { limits })).user.redemptions.redeem({ key })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const balances = await Promise.all(crowd.map(balance))
    expect(balances.reduce((sum, quota) => sum + quota, 0)).toBe(70_000)
    const [guesser] = (await people(1)) as [Person]
    const { redeem: guess } = (await app.trpc(guesser, { limits })).user.redemptions
    const guesses = await Promise.all(
      Array.from({ length: 65 }, (_, index) =>
        guess({ key: `stopped ${index}` }).catch(({ message }: Error) => message),
      ),
    )
    expect(guesses.filter((message) => message === '请求次数过多，请稍后再试！')).toHaveLength(5)
    expect(errors.length).toBeGreaterThanOrEqual(65)
    stopped.disconnect()
    await ledgerHolds()
  })
})

describe('the bot check', () => {
  it('is asked for where it is on, with a fresh answer each time one is given', async () => {
    await app.setOptions({ TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret', TurnstileCheckEnabled: 'true' })
    const key = await make()
    const [person] = (await people(1)) as [Person]
    expect((await redeem(person, key)).body['success']).toBe(false)
    app.outgoing.answerWith(() => '{"success":false}')
    expect((await redeem(person, key, 'bad')).body['success']).toBe(false)
    app.outgoing.answerWith(() => '{"success":true}')
    expect((await redeem(person, key, 'ok')).body['success']).toBe(true)
  })

  it('is asked for before anything is locked, and not again for a reply that is known', async () => {
    await app.setOptions({ TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret', TurnstileCheckEnabled: 'true' })
    const key = await make()
    const browser = await app.signedIn(await app.person())
    const send = () =>
      browser.post(
        '/api/user/topup',
        { key },
        { query: { turnstile: 'ok' }, headers: { 'idempotency-key': 'checked' } },
      )
    const locked: Fields[][] = []
    app.outgoing.answerWith(async () => {
      locked.push(
        await app.sql(
          `select 1 from pg_locks where relation = 'idempotency_keys'::regclass and mode = 'RowExclusiveLock'
             and database = (select oid from pg_database where datname = current_database())`,
        ),
      )
      return JSON.stringify({ success: locked.length === 1 })
    })
    const replies = await Promise.all(Array.from({ length: 5 }, send))
    for (const reply of [...replies, await send()]) expect(reply.data).toEqual({ quota: 1000, is_gift: false })
    expect(locked).toEqual([[]])
  })
})

describe('an Idempotency-Key', () => {
  it('makes one credit of a request that is sent twenty times at once, with one and the same reply', async () => {
    const key = await make({ quota: 500 })
    const [person] = (await people(1)) as [Person]
    const browser = await app.signedIn(person)
    const send = (body: Fields, name = 'once') =>
      browser.post('/api/user/topup', body, { headers: { 'idempotency-key': name } })
    const replies = await Promise.all(Array.from({ length: 20 }, () => send({ key })))
    for (const reply of replies) expect(reply).toMatchObject({ status: 200, body: { success: true } })
    for (const reply of replies) expect(reply.data).toEqual({ quota: 500, is_gift: false })
    expect(await balance(person)).toBe(500)
    expect((await send({ key: 'another' })).body).toEqual({
      success: false,
      message: '同一 Idempotency-Key 已用于内容不同的请求',
    })
    expect((await send({ key }, 'not a key')).body['success']).toBe(false)
    await ledgerHolds()
  })

  it('makes one batch of codes, and keeps no readable copy of them', async () => {
    const browser = await app.signedIn(admin)
    const send = (count: number) =>
      browser.post(
        '/api/redemption/',
        { name: 'repeated', quota: 1, count },
        { headers: { 'idempotency-key': 'batch' } },
      )
    const replies = await Promise.all(Array.from({ length: 10 }, () => send(3)))
    expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1)
    expect(await app.sql("select count(*)::int from redemptions where name = 'repeated'")).toEqual([{ count: 3 }])
    expect((await send(4)).body['success']).toBe(false)
    const rows = JSON.stringify(await app.sql('select * from idempotency_keys'))
    const keys = (replies[0] as { data: unknown }).data as string[]
    for (const key of keys) expect(rows).not.toContain(key)
  })

  it('of a refused request is free again', async () => {
    const [person] = (await people(1)) as [Person]
    const browser = await app.signedIn(person)
    const sending = { headers: { 'idempotency-key': 'later' } }
    expect((await browser.post('/api/user/topup', { key: 'TOMORROW' }, sending)).body['success']).toBe(false)
    await make({ key: 'TOMORROW' })
    expect((await browser.post('/api/user/topup', { key: 'TOMORROW' }, sending)).body['success']).toBe(true)
  })
})

describe('the rebate', () => {
  const rebates = { RebateEnabled: 'true', RebatePercentage: '12.5' }

  it('goes to the inviter once, rounded down, with a log row for both', async () => {
    await app.setOptions(rebates)
    const inviter = await app.person()
    const invited = await app.person({ inviterId: inviter.id })
    const key = await make({ quota: 1001 })
    await Promise.all(Array.from({ length: 10 }, () => redeem(invited, key)))
    expect([await balance(inviter), await balance(invited)]).toEqual([125, 1001])
    const logs = await app.sql('select user_id, type from logs where type = 4 and user_id = any($1) order by user_id', [
      [inviter.id, invited.id],
    ])
    expect(logs).toEqual([
      { user_id: inviter.id, type: 4 },
      { user_id: invited.id, type: 4 },
    ])
    await ledgerHolds()
  })

  it('brings none for itself to the inviter of the inviter', async () => {
    await app.setOptions(rebates)
    const first = await app.person()
    const second = await app.person({ inviterId: first.id })
    await redeem(await app.person({ inviterId: second.id }), await make({ quota: 8000 }))
    expect([await balance(first), await balance(second)]).toEqual([0, 1000])
  })

  it('that fails leaves the credit, and is booked once afterwards', async () => {
    await app.setOptions(rebates)
    const inviter = await app.person()
    const invited = await app.person({ inviterId: inviter.id })
    await app.sql(`alter table grants add constraint "no_rebates" check (kind <> 'rebate') not valid`)
    expect((await redeem(invited, await make({ quota: 800 }))).body['success']).toBe(true)
    expect([await balance(inviter), await balance(invited)]).toEqual([0, 800])
    await app.sql('alter table grants drop constraint "no_rebates"')
    const { bookDueRebates } = await import('#features/rebates/service.ts')
    const book = () => bookDueRebates(app.services, new AbortController().signal)
    const booked = await Promise.all([book(), book()])
    expect(booked.reduce((sum, count) => sum + count, 0)).toBe(1)
    expect(await balance(inviter)).toBe(100)
    expect(await book()).toBe(0)
    await ledgerHolds()
  })

  it('waits for the first payment where that is chosen', async () => {
    await app.setOptions({ ...rebates, RebateAfterPaymentEnabled: 'true' })
    const inviter = await app.person()
    const invited = await app.person({ inviterId: inviter.id })
    await redeem(invited, await make({ quota: 800 }))
    expect(await balance(inviter)).toBe(0)
    await app.sql(
      `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, trade_no, status, paid_at)
       values ($1, 0, 'CNY', 1, 'epay', 'earlier', 'paid', now())`,
      [invited.id],
    )
    await redeem(invited, await make({ quota: 800 }))
    expect(await balance(inviter)).toBe(100)
  })

  it.each([{ RebateEnabled: 'false', RebatePercentage: '50' }, { RebateEnabled: 'true' }])(
    'is none under %j',
    async (options) => {
      await app.setOptions(options)
      const inviter = await app.person()
      await redeem(await app.person({ inviterId: inviter.id }), await make({ quota: 800 }))
      expect(await balance(inviter)).toBe(0)
    },
  )
})
