import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { startTlsFront, trustTestCertificate } from '#test/realtime/tls-front.ts'
import { type ConsoleApp, startFileConsole } from '#test/support/console-app.ts'
import { startReceiver } from '#test/support/receiver.ts'

trustTestCertificate()
const app = await startFileConsole({ OUTBOUND_ALLOW: '127.0.0.0/8' })

/** The code of the refusal a call ends with; null when it succeeds. */
const refusalOf = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (error: { cause?: { code?: string } }) => error.cause?.code ?? error,
  )

const withFactor = async (fields: Parameters<ConsoleApp['person']>[0] = {}) => {
  const person = await app.person(fields)
  await app.sql(`insert into authenticators (user_id, secret_encrypted, confirmed_at) values ($1, '', now())`, [
    person.id,
  ])
  return { person, api: await app.trpc(person) }
}

const actsOf = async (id: number) =>
  (await app.sql('select action from audit_entries where actor_id = $1 order by id', [id])).map(({ action }) => action)

const noChange = { prices: [], groupRatios: {} }
const plan = { name: 'p', price: 0, term: 'month' as const, windows: [] }

describe('whoever has a second factor and has not proved it lately', () => {
  it.each([
    ['a new password', (api) => api.user.account.update({ password: 'a fresh one', currentPassword: '' })],
    ['a new access token', (api) => api.user.account.createAccessToken()],
    ['the end of the account', (api) => api.user.account.removeUnasked()],
    ['a key of a token', (api) => api.user.tokens.reveal({ id: 1 })],
    ['the end of the second factor', (api) => api.user.secondFactor.disableAuthenticator()],
    ['new recovery codes', (api) => api.user.secondFactor.replaceRecoveryCodes()],
    ['another passkey', (api) => api.user.secondFactor.passkeys.options()],
    ['another key of a token', (api) => api.user.tokens.rotate({ id: 1, graceSeconds: 0 })],
    ['a search by a part of a key', (api) => api.user.tokens.search({ key: 'a' })],
    ['money for somebody', (api) => api.admin.users.update({ id: 1, quotaChange: 5 })],
    ['an order that is taken as paid', (api) => api.admin.orders.complete({ id: 1, reason: 'paid' })],
    ['codes', (api) => api.admin.redemptions.create({ name: 'gift', quota: 5 })],
    ['codes of another amount', (api) => api.admin.redemptions.update({ id: 1, name: 'gift', quota: 5 })],
    ['a plan', (api) => api.admin.plans.create(plan)],
    ['a plan of another amount', (api) => api.admin.plans.update({ ...plan, id: 1 })],
    ['a plan that is paid back', (api) => api.admin.subscriptions.end({ id: 1, refund: 5, reason: 'r' })],
    ['another address', (api) => api.auth.bindEmail({ email: 'a@b.example', code: 'x' })],
    ['the way to an account elsewhere', (api) => api.user.account.bindings.start({ provider: 'github' })],
    ['an account at WeChat', (api) => api.user.account.bindings.bindWeChat({ code: 'x' })],
    ['an account at Telegram', (api) => api.user.account.bindings.bindTelegram({ fields: {} })],
    ['the end of an account elsewhere', (api) => api.user.account.bindings.unbind({ provider: 'github' })],
    ['an export of codes', (api) => api.admin.redemptions.export({})],
    ['another administrator', (api) => api.admin.users.manage({ id: 1, action: 'promote' })],
    ['a dangerous setting at its default', (api) => api.admin.options.reset({ keys: ['RetryTimes', 'SMTPToken'] })],
    ['whose word is taken for who signs in', (api) => api.admin.options.update({ key: 'oidc.well_known', value: '' })],
    ['gifts for newcomers', (api) => api.admin.options.update({ key: 'QuotaForNewUser', value: '5' })],
    ['where keys are sent', (api) => api.admin.options.update({ key: 'Chats', value: '[]' })],
    ['where codes are sold', (api) => api.admin.options.update({ key: 'TopUpLink', value: '' })],
    ['prices', (api) => api.admin.options.update({ key: 'ModelRatio', value: '{}' })],
    ['what a group pays', (api) => api.admin.options.update({ key: 'GroupRatio', value: '{}' })],
    ['what a dollar is', (api) => api.admin.options.update({ key: 'QuotaPerUnit', value: '500000' })],
    ['prices of models', (api) => api.admin.models.setPrices({ prices: [] })],
    ['what a batch costs', (api) => api.admin.options.update({ key: 'claude.batch_price_ratio', value: '0.4' })],
    ['a price change', (api) => api.admin.prices.schedule({ change: noChange, effectiveAt: new Date() })],
    ['a price change that is called off', (api) => api.admin.prices.cancel({ id: 1 })],
    ['prices as they came', (api) => api.admin.options.resetModelRatio()],
    ['a secret of the site', (api) => api.admin.options.update({ key: 'SMTPToken', value: 'x' })],
    [
      'who may sign in, among other settings',
      (api) =>
        api.admin.options.save({
          changes: [
            { key: 'SystemName', value: 'x' },
            { key: 'RegisterEnabled', value: false },
          ],
        }),
    ],
  ] satisfies [string, (api: Awaited<ReturnType<ConsoleApp['trpc']>>) => Promise<unknown>][])(
    'is asked again before %s',
    async (_what, act) => {
      const { api } = await withFactor({ role: 100 })
      expect(await refusalOf(act(api))).toBe('second_factor.required')
    },
  )

  it('is not asked before a display name or a harmless setting', async () => {
    const { api } = await withFactor({ role: 100 })
    expect(await refusalOf(api.user.account.update({ displayName: 'Somebody' }))).toBeNull()
    expect(await refusalOf(api.admin.options.update({ key: 'RetryTimes', value: '2' }))).toBeNull()
    expect(await refusalOf(api.admin.options.reset({ keys: ['RetryTimes'] }))).toBeNull()
    expect(await refusalOf(api.admin.options.mapping.update({ mapping: {} }))).toBeNull()
    expect(await refusalOf(api.admin.subscriptions.end({ id: 1, refund: 0, reason: 'r' }))).toBe(
      'plan.subscription_unknown',
    )
    const { id } = await app.person()
    expect(await refusalOf(api.admin.users.manage({ id, action: 'disable' }))).toBeNull()
  })

  it('sees the masks of keys by the documented paths, and the keys once it is proved', async () => {
    const { person } = await withFactor()
    const browser = await app.signedIn(person)
    await browser.post('/api/token/', { name: 'mine', unlimited_quota: true, expired_time: -1 })
    const keyOf = async () => ((await browser.get('/api/token/')).data as { key: string }[])[0]?.key
    expect(await keyOf()).toMatch(/^\w{3}\*+\w{3}$/)
    await app.sql('update sessions set verified_at = now() where user_id = $1', [person.id])
    expect(await keyOf()).toMatch(/^\w{48}$/)
  })

  it('sees the masks of codes, and the codes once it is proved', async () => {
    const admin = await app.trpc(await app.person({ role: 10 }))
    const [key = ''] = await admin.admin.redemptions.create({ name: 'masked', quota: 5 })
    await admin.admin.redemptions.create({ name: 'masked', quota: 5, key: 'WELCOME' })
    const { person, api } = await withFactor({ role: 10 })
    const browser = await app.signedIn(person)
    const id = (await admin.admin.redemptions.list({ keyword: 'masked' })).items[1]?.id ?? 0
    const seen = async () => [
      ...(await api.admin.redemptions.list({ keyword: 'masked' })).items,
      await api.admin.redemptions.get({ id }),
      await api.admin.redemptions.setStatus({ id, status: 1 }),
      ...((await browser.get('/api/redemption/')).data as { items: { key: string }[] }).items,
      (await browser.get(`/api/redemption/${id}`)).data as { key: string },
    ]
    const mask = `${key.slice(0, 3)}***${key.slice(-3)}`
    expect((await seen()).map((one) => one.key)).toEqual(['***', mask, mask, mask, '***', mask, mask])
    await app.sql('update sessions set verified_at = now() where user_id = $1', [person.id])
    expect((await seen()).map((one) => one.key)).toEqual(['WELCOME', key, key, key, 'WELCOME', key, key])
    expect((await api.admin.redemptions.export({ ids: [id] })).items).toMatchObject([{ key, isKeyMasked: false }])
    // Who has used one is named, not numbered.
    await app.sql('update redemptions set used_user_id = $1, used_count = 1 where id = $2', [person.id, id])
    const [user] = await app.sql('select username from users where id = $1', [person.id])
    expect(await api.admin.redemptions.get({ id })).toMatchObject({
      usedUserId: person.id,
      usedUsername: user?.['username'],
    })
  })
})

describe('a session of somebody without a second factor that began more than ten minutes ago', () => {
  const later = (id: number) =>
    app.sql(`update sessions set created_at = now() - interval '11 minutes' where user_id = $1`, [id])

  it.each([
    ['another address', (api) => api.auth.bindEmail({ email: 'a@b.example', code: 'x' })],
    ['the way to an account elsewhere', (api) => api.user.account.bindings.start({ provider: 'github' })],
    ['an account at WeChat', (api) => api.user.account.bindings.bindWeChat({ code: 'x' })],
    ['an account at Telegram', (api) => api.user.account.bindings.bindTelegram({ fields: {} })],
    ['a new access token', (api) => api.user.account.createAccessToken()],
    ['a password without the former one', (api) => api.user.account.overwrite({ password: 'correct horse' })],
  ] satisfies [string, (api: Awaited<ReturnType<ConsoleApp['trpc']>>) => Promise<unknown>][])(
    'adds no way in before the password is typed: %s',
    async (_what, act) => {
      const person = await app.person()
      const api = await app.trpc(person)
      const early = await refusalOf(act(api))
      expect(early).not.toBe('second_factor.owner_unconfirmed')
      await later(person.id)
      expect(await refusalOf(act(api))).toBe('second_factor.owner_unconfirmed')
      await api.user.secondFactor.confirmPassword({ password: person.password })
      expect(await refusalOf(act(api))).toBe(early)
    },
  )

  it('sets no first password either, renames itself, and gives way to the current password', async () => {
    const other = await app.person({ passwordHash: '' })
    const theirs = await app.trpc(other)
    const person = await app.person()
    const api = await app.trpc(person)
    await later(other.id)
    await later(person.id)
    const fresh = { password: 'a fresh one', currentPassword: '' }
    expect(await refusalOf(theirs.user.account.update(fresh))).toBe('second_factor.owner_unconfirmed')
    expect(await refusalOf(api.user.account.overwrite({ displayName: 'Somebody' }))).toBeNull()
    expect(await refusalOf(api.user.account.update({ ...fresh, currentPassword: person.password }))).toBeNull()
  })

  it('replaces its password by the documented paths once the current one is named, by a system access token without, too', async () => {
    const person = await app.person({ role: 100 })
    const browser = await app.signedIn(person)
    const token = String((await browser.get('/api/user/token')).data)
    await later(person.id)
    const script = app.browser()
    const headers = { authorization: token, 'x-user-id': String(person.id) }
    const change = async (sender: typeof browser, body: object, path = '/api/user/self') =>
      (await sender.put(path, body, sender === script ? { headers } : {})).body
    const fresh = { password: 'a fresh one' }
    const unconfirmed = { success: false, message: '请先确认是您本人：输入密码，或重新登录后再试' }
    expect(await change(browser, fresh)).toEqual(unconfirmed)
    expect(await change(browser, { ...fresh, original_password: '' })).toEqual(unconfirmed)
    expect(await change(browser, { ...fresh, id: person.id }, '/api/user/')).toEqual(unconfirmed)
    const guessed = { success: false, message: '当前密码不正确' }
    for (const sender of [browser, script])
      expect(await change(sender, { ...fresh, original_password: 'a guess' })).toMatchObject(guessed)
    expect((await app.browser().login(person)).body['success']).toBe(true)
    expect(await change(browser, { ...fresh, original_password: person.password })).toMatchObject({ success: true })
    expect((await app.browser().login({ ...person, ...fresh })).body['success']).toBe(true)
  })

  it('does so by no documented path, while a system access token goes on', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    const token = (await browser.get('/api/user/token')).data
    await later(person.id)
    const query = { email: 'a@b.example', code: 'x' }
    const unconfirmed = { success: false, message: '请先确认是您本人：输入密码，或重新登录后再试' }
    expect((await browser.get('/api/oauth/email/bind', { query })).body).toMatchObject(unconfirmed)
    expect((await browser.get('/api/user/token')).body).toMatchObject(unconfirmed)
    expect((await browser.put('/api/user/self', { password: 'a fresh one' })).body).toMatchObject(unconfirmed)
    const headers = { authorization: String(token), 'x-user-id': String(person.id) }
    expect((await app.browser().get('/api/user/token', { headers })).body).toMatchObject({ success: true })
  })
})

describe('sessions', () => {
  it('are listed with where and when, end one by one or all but this, and of nobody else', async () => {
    const person = await app.person()
    const [here, there, third] = await Promise.all([1, 2, 3].map(() => app.signedIn(person)))
    await here?.get('/api/user/self', { headers: { 'user-agent': 'Somebody/1' } })
    const api = await app.trpc(person)
    const listed = await api.user.sessions.list()
    expect(listed).toHaveLength(4)
    expect(listed.filter(({ isCurrent }) => isCurrent)).toEqual([listed[0]])
    const otherUser = await app.trpc(await app.person())
    expect(await refusalOf(otherUser.user.sessions.revoke({ id: listed[0]?.id ?? '' }))).toBe('session.not_found')
    await api.user.sessions.revoke({ id: listed[1]?.id ?? '' })
    expect(await api.user.sessions.list()).toHaveLength(3)
    expect(await api.user.sessions.revokeOthers()).toEqual({ revoked: 2 })
    for (const browser of [here, there, third]) expect((await browser?.get('/api/user/self'))?.status).toBe(401)
    expect(await actsOf(person.id)).toEqual(['account.revoke_session', 'account.revoke_other_sessions'])
  })

  it('are ended one by one by a higher role alone, and only those of the account that is named', async () => {
    const person = await app.person()
    const [first, second] = [await app.signedIn(person), await app.signedIn(person)]
    await first.get('/api/user/self', { headers: { 'user-agent': 'Somebody/1' } })
    const admin = await app.trpc(await app.person({ role: 10 }))
    const { sessions } = await admin.admin.users.overview({ id: person.id })
    const session = sessions[0]?.id ?? ''
    const other = await app.person()
    expect(await refusalOf(admin.admin.users.endSession({ id: other.id, session }))).toBe('session.not_found')
    const peer = await app.person({ role: 10 })
    expect(await refusalOf(admin.admin.users.endSession({ id: peer.id, session }))).toBe('user.target_forbidden')
    await admin.admin.users.endSession({ id: person.id, session })
    const statuses = [(await first.get('/api/user/self')).status, (await second.get('/api/user/self')).status]
    expect(statuses.toSorted()).toEqual([200, 401])
  })

  it('remember where they were last used from', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    await app.sql(`update sessions set seen_at = now() - interval '1 hour' where user_id = $1`, [person.id])
    await browser.get('/api/user/self', { headers: { 'user-agent': 'Somebody/1' } })
    expect(
      await app.sql(
        `select user_agent, client_ip, seen_at > now() - interval '10 minutes' as fresh from sessions where user_id = $1`,
        [person.id],
      ),
    ).toEqual([{ user_agent: 'Somebody/1', client_ip: '127.0.0.1', fresh: true }])
  })
})

it('a replaced password and access token are recorded', async () => {
  const person = await app.person()
  const api = await app.trpc(person)
  await api.user.account.createAccessToken()
  await api.user.account.update({ password: 'a fresh one', currentPassword: person.password })
  expect(await actsOf(person.id)).toEqual(['account.replace_access_token', 'account.change_password'])
})

describe('a test of the webhook', () => {
  it('reaches a receiver over TLS in the language of its owner, signed with what is typed', async () => {
    await using receiver = await startReceiver()
    const front = await startTlsFront(Number(new URL(receiver.url).port))
    const api = await app.trpc(await app.person())
    await api.user.account.setLanguage({ language: 'en' })
    await api.user.account.testWebhook({ webhookUrl: `https://127.0.0.1:${front.port}/hook`, webhookSecret: 'secret' })
    const [got] = receiver.received
    expect(JSON.parse(got?.text ?? '')).toMatchObject({ type: 'test', title: 'Test notice' })
    expect(got?.headers['x-webhook-signature']).toBe(
      createHmac('sha256', 'secret')
        .update(got?.text ?? '')
        .digest('hex'),
    )
    expect(got?.headers.authorization).toBe('Bearer secret')
    await front.close()
  })

  it('says what the receiver answered, and nothing of addresses that are not open to it', async () => {
    await using receiver = await startReceiver(() => ({ status: 503 }))
    const front = await startTlsFront(Number(new URL(receiver.url).port))
    const api = await app.trpc(await app.person())
    const test = (webhookUrl: string) =>
      api.user.account.testWebhook({ webhookUrl }).catch((error: Error) => error.message)
    expect(await test(`https://127.0.0.1:${front.port}/`)).toBe('没有送达：HTTP 503')
    expect(await test('https://10.0.0.1/')).toBe('没有送达：no answer')
    expect(await test(receiver.url)).toContain('setting.webhook_url_invalid')
    await front.close()
  })
})
