import { beforeEach, describe, expect, it } from 'vitest'
import { startFileConsole, refused } from '#test/support/console-app.ts'
import { withinAnHour } from '#test/support/within-an-hour.ts'

const app = await startFileConsole()
beforeEach(async () => {
  await app.sql('delete from options')
  await app.setOptions({ CheckInEnabled: 'true', CheckInQuota: '1000' })
})

const row = async (id: number) => (await app.sql('select * from users where id = $1', [id]))[0]
const grantsOf = (id: number) => app.sql('select kind, amount from grants where user_id = $1', [id])

describe('the check-in', () => {
  it('gives the reward once a day, however often it is asked for at once', async () => {
    await withinAnHour()
    const person = await app.person()
    const browser = await app.signedIn(person)
    expect((await browser.get('/api/user/check_in_status')).data).toEqual({ can_check_in: true })
    const replies = await Promise.all(Array.from({ length: 50 }, () => browser.post('/api/user/check_in')))
    const given = replies.filter((reply) => reply.body['success'])
    expect(given).toHaveLength(1)
    expect(given[0]?.data).toEqual({ quota: 1000 })
    expect(given[0]?.body['message']).not.toBe('')
    expect(replies.find((reply) => !reply.body['success'])).toMatchObject(refused('今天已经签到过了'))
    expect(await row(person.id)).toMatchObject({ quota: '1000' })
    expect(await grantsOf(person.id)).toEqual([{ kind: 'check_in', amount: '1000' }])
    expect(await app.sql('select type, username from logs where user_id = $1', [person.id])).toEqual([
      { type: 5, username: person.username },
    ])
    expect((await browser.get('/api/user/check_in_status')).data).toEqual({ can_check_in: false })
    expect(((await browser.get('/api/user/self')).data as Record<string, unknown>)['last_check_in_time']).toMatch(/Z$/)
  })

  it('is open again after midnight UTC', async () => {
    await withinAnHour()
    const midnight = "date_trunc('day', now() at time zone 'utc') at time zone 'utc'"
    for (const [last, isOpen] of [
      [`${midnight} - interval '1 microsecond'`, true],
      [midnight, false],
    ] as const) {
      const person = await app.person()
      const browser = await app.signedIn(person)
      await app.sql(`update users set last_check_in_at = ${last} where id = $1`, [person.id])
      expect((await browser.get('/api/user/check_in_status')).data).toEqual({ can_check_in: isOpen })
      expect((await browser.post('/api/user/check_in')).body['success']).toBe(isOpen)
    }
  })

  it('counts for the day of the database, whatever the clock of the process says', async () => {
    await withinAnHour()
    for (const hours of [-48, 48]) {
      const person = await app.person()
      const ambient = { ...app.services.ambient, now: () => new Date(Date.now() + hours * 3_600_000) }
      await (await app.trpc(person, { ambient })).user.account.checkIn({})
      const status = async () => (await (await app.signedIn(person)).get('/api/user/check_in_status')).data
      expect(await status()).toEqual({ can_check_in: false })
      // A day later.
      await app.sql("update users set last_check_in_at = last_check_in_at - interval '1 day' where id = $1", [
        person.id,
      ])
      expect(await status()).toEqual({ can_check_in: true })
    }
  })

  it('gives something between both bounds', async () => {
    await app.setOptions({ CheckInQuota: '10', CheckInMaxQuota: '12' })
    const quotas = new Set<number>()
    for (let count = 0; count < 40; count += 1) {
      const reply = await (await app.signedIn(await app.person())).post('/api/user/check_in')
      quotas.add((reply.data as { quota: number }).quota)
    }
    expect([...quotas].toSorted()).toEqual([10, 11, 12])
  })

  it.each([
    [{ CheckInEnabled: 'false' }, '管理员未开启签到功能'],
    [{ CheckInQuota: '0' }, '签到额度未设置'],
  ] as const)('is refused under %j', async (options, message) => {
    await app.setOptions(options)
    const browser = await app.signedIn(await app.person())
    expect(await browser.post('/api/user/check_in')).toMatchObject(refused(message))
  })

  it('wants a fresh answer to the bot check where one is given', async () => {
    await app.setOptions({ TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret', TurnstileCheckEnabled: 'true' })
    const browser = await app.signedIn(await app.person())
    expect((await browser.post('/api/user/check_in')).body['success']).toBe(false)
    app.outgoing.answerWith(() => '{"success":false}')
    expect((await browser.post('/api/user/check_in', {}, { query: { turnstile: 'bad' } })).body['success']).toBe(false)
    app.outgoing.answerWith(() => '{"success":true}')
    expect((await browser.post('/api/user/check_in', {}, { query: { turnstile: 'ok' } })).body['success']).toBe(true)
  })
})

describe('the invite code', () => {
  it('is made once and stays', async () => {
    const browser = await app.signedIn(await app.person())
    const codes = await Promise.all(Array.from({ length: 5 }, () => browser.get('/api/user/aff')))
    expect(new Set(codes.map(({ data }) => data)).size).toBe(1)
    expect(codes[0]?.data).toMatch(/^[0-9A-Za-z]{4}$/)
  })

  it('is not given while invitations are off', async () => {
    await app.setOptions({ AffEnabled: 'false' })
    expect(await (await app.signedIn(await app.person())).get('/api/user/aff')).toMatchObject(
      refused('管理员未开启邀请功能'),
    )
  })
})

describe('a balance', () => {
  it('loses nothing where a check-in, a transfer, a new name and settings meet ten deductions', async () => {
    await app.setOptions({ CheckInEnabled: 'true', CheckInQuota: '1000' })
    const person = await app.person({ quota: 1000, affQuota: 600_000 })
    const browser = await app.signedIn(person)
    const settings = { notify_type: 'email', quota_warning_threshold: 5 }
    const replies = await Promise.all([
      browser.post('/api/user/check_in'),
      browser.post('/api/user/aff_transfer', { quota: 600_000 }),
      ...Array.from({ length: 5 }, (_, at) => browser.put('/api/user/self', { display_name: `name ${at}` })),
      ...Array.from({ length: 5 }, () => browser.put('/api/user/setting', settings)),
      ...Array.from({ length: 10 }, async () => {
        await app.sql('update users set quota = quota - 7, used_quota = used_quota + 7 where id = $1', [person.id])
        return { body: { success: true } }
      }),
    ])
    expect(replies.filter(({ body }) => body['success'])).toHaveLength(replies.length)
    const balance = String(1000 + 1000 + 600_000 - 70)
    expect(await row(person.id)).toMatchObject({ quota: balance, used_quota: '70', aff_quota: '0' })
  })
})

describe('the transfer of rewards', () => {
  it('moves the full amount once for fifty who try at once', async () => {
    await app.setOptions({ AffEnabled: 'false' })
    const person = await app.person({ affQuota: 600_000, quota: 5 })
    const browser = await app.signedIn(person)
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => browser.post('/api/user/aff_transfer', { quota: 600_000 })),
    )
    const done = replies.filter((reply) => reply.body['success'])
    expect(done).toHaveLength(1)
    expect(done[0]?.body['message']).not.toBe('')
    expect('data' in (done[0]?.body ?? {})).toBe(false)
    expect(await row(person.id)).toMatchObject({ quota: '600005', aff_quota: '0' })
    expect(await grantsOf(person.id)).toEqual([{ kind: 'transfer', amount: '600000' }])
    expect(await app.sql('select type from logs where user_id = $1', [person.id])).toEqual([{ type: 4 }])
  })

  it.each([
    [499_999, '划转金额最低为 $1.000000'],
    [0, '划转金额最低为 $1.000000'],
    [-600_000, '划转金额最低为 $1.000000'],
    [600_001, '邀请额度不足'],
  ])('refuses %d', async (quota, message) => {
    const person = await app.person({ affQuota: 600_000 })
    const browser = await app.signedIn(person)
    expect(await browser.post('/api/user/aff_transfer', { quota })).toMatchObject(refused(message))
    expect(await row(person.id)).toMatchObject({ quota: '0', aff_quota: '600000' })
  })

  it('refuses a fraction', async () => {
    const browser = await app.signedIn(await app.person({ affQuota: 900_000 }))
    expect((await browser.post('/api/user/aff_transfer', { quota: 600_000.5 })).body['success']).toBe(false)
  })
})
