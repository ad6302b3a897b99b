import { describe, expect, it } from 'vitest'
import { startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()

/** The code of the refusal a call ends with; null when it succeeds. */
const refusalOf = async (call: Promise<unknown>): Promise<unknown> => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error === null) return null
  const { cause, code } = error as { cause?: { code?: string; issues?: { message: string }[] }; code?: string }
  return cause?.issues?.[0]?.message ?? cause?.code ?? code
}

const user = (fields = {}) => app.person(fields).then(async (person) => ({ person, api: await app.trpc(person) }))

describe('user.account', () => {
  it('asks for the current password before it takes a new one', async () => {
    const { person, api } = await user()
    const password = 'a fresh one'
    expect(await refusalOf(api.user.account.update({ password }))).toBe('user.password_wrong')
    expect(await refusalOf(api.user.account.update({ password, currentPassword: 'guess' }))).toBe('user.password_wrong')
    await api.user.account.update({ displayName: 'No password needed' })
    await api.user.account.update({ password, currentPassword: person.password })
    expect((await app.browser().login({ username: person.username, password })).body['success']).toBe(true)
  })

  it('empties a display name that its owner empties', async () => {
    const person = await app.person({ displayName: 'Former' })
    const api = await app.trpc(person)
    await api.user.account.update({ displayName: '' })
    expect((await api.user.account.get()).displayName).toBe('')
  })

  it('gives a stolen session ten guesses at the password', async () => {
    const { person, api } = await user()
    const change = (currentPassword: string) =>
      refusalOf(api.user.account.update({ password: 'a fresh one', currentPassword }))
    for (let count = 0; count < 10; count += 1) expect(await change('guess')).toBe('user.password_wrong')
    expect(await change(person.password)).toBe('rate_limited')
  })

  it('lets an account without a password choose its first', async () => {
    const { person, api } = await user({ passwordHash: null })
    expect(await api.user.account.get()).toMatchObject({ hasPassword: false })
    await api.user.account.update({ password: 'a first one' })
    expect((await app.browser().login({ ...person, password: 'a first one' })).body['success']).toBe(true)
  })

  it('stops saying that the password must be changed once it was', async () => {
    const { person, api } = await user({ mustChangePassword: true })
    expect(await api.auth.whoami()).toMatchObject({ id: person.id, mustChangePassword: true })
    await api.user.account.update({ password: 'a fresh one', currentPassword: person.password })
    expect(await api.auth.whoami()).toMatchObject({ mustChangePassword: false })
  })

  it('is removed only under its own name', async () => {
    const { person, api } = await user()
    expect(await refusalOf(api.user.account.remove({ username: 'somebody' }))).toBe('user.confirmation_mismatch')
    expect(await app.sql('select deleted_at from users where id = $1', [person.id])).toEqual([{ deleted_at: null }])
    await api.user.account.remove({ username: person.username })
    expect((await app.browser().login(person)).body['success']).toBe(false)
  })

  it('keeps a webhook secret that was not typed again for the same address, and drops one that was emptied', async () => {
    const { api } = await user()
    const settings = { notifyType: 'webhook', quotaWarningThreshold: 1, webhookUrl: 'https://hook.example' } as const
    await api.user.account.updateSettings({ ...settings, webhookSecret: 'hidden' })
    await api.user.account.updateSettings(settings)
    expect((await api.user.account.get()).settings).toMatchObject({ webhookSecret: 'hidden' })
    await api.user.account.updateSettings({ ...settings, webhookUrl: 'https://elsewhere.example' })
    expect((await api.user.account.get()).settings).toMatchObject({ webhookSecret: '' })
    await api.user.account.updateSettings({ ...settings, webhookSecret: 'hidden' })
    await api.user.account.updateSettings({ ...settings, webhookSecret: '' })
    expect((await api.user.account.get()).settings).toMatchObject({ webhookSecret: '' })
  })

  it('says below which balance its owner is warned, and other settings choose nothing', async () => {
    const { person, api } = await user()
    const { account } = api.user
    expect(await account.get()).toMatchObject({ settings: null, siteWarningThreshold: 500_000 })
    await account.updateSettings({ notifyType: 'email', showIpInLogs: true })
    expect((await account.get()).settings).toMatchObject({ showIpInLogs: true, quotaWarningThreshold: null })
    expect(
      await app.sql("select setting ? 'quota_warning_threshold' as chosen from users where id = $1", [person.id]),
    ).toEqual([{ chosen: false }])
    await app.setOptions({ QuotaRemindThreshold: '5000000' })
    expect(await account.get()).toMatchObject({ siteWarningThreshold: 5_000_000 })
    await account.updateSettings({ notifyType: 'email', quotaWarningThreshold: 1000 })
    expect((await account.get()).settings).toMatchObject({ quotaWarningThreshold: 1000 })
    await account.updateSettings({ notifyType: 'email', quotaWarningThreshold: null })
    expect((await account.get()).settings).toMatchObject({ quotaWarningThreshold: null })
  })

  it('shows where somebody is notified to those who may act on them, and to nobody else', async () => {
    const people = await Promise.all([user({ role: 100 }), user({ role: 10 }), user({ role: 10 }), user()])
    for (const [index, { api }] of people.entries())
      await api.user.account.updateSettings({
        notifyType: 'webhook',
        quotaWarningThreshold: 1,
        webhookUrl: `https://hook.example/${index}`,
      })
    const [root, admin] = people
    const seenBy = async (reader: (typeof people)[number] | undefined) => {
      const { items } = (await reader?.api.admin.users.list({ pageSize: 100 })) ?? { items: [] }
      return people.map(({ person }) => items.find(({ id }) => id === person.id)?.settings?.webhookUrl ?? null)
    }
    const [ofRoot, ofAdmin, ofOther, ofUser] = people.map((_, index) => `https://hook.example/${index}`)
    expect(await seenBy(root)).toEqual([ofRoot, ofAdmin, ofOther, ofUser])
    expect(await seenBy(admin)).toEqual([null, ofAdmin, null, ofUser])
  })

  it('sends dates as dates and no hash', async () => {
    const { api } = await user({ lastCheckInAt: new Date(0) })
    const account = await api.user.account.get()
    expect(account.lastCheckInAt).toEqual(new Date(0))
    expect(Object.keys(account).filter((key) => /hash/i.test(key))).toEqual([])
  })
})

describe('admin.users', () => {
  it('books a difference, so that two administrators add up', async () => {
    const { person } = await user({ quota: 1000 })
    const api = await app.trpc(await app.person({ role: 10 }))
    await Promise.all([100, -300, 50].map((quotaChange) => api.admin.users.update({ id: person.id, quotaChange })))
    expect(await api.admin.users.get({ id: person.id })).toMatchObject({ quota: 850 })
    expect(await app.sql('select sum(amount)::int as booked from grants where user_id = $1', [person.id])).toEqual([
      { booked: -150 },
    ])
  })

  it('answers an update with the user as it now is', async () => {
    const { person } = await user({ quota: 5 })
    const api = await app.trpc(await app.person({ role: 10 }))
    expect(await api.admin.users.update({ id: person.id, displayName: 'New', quotaChange: 5 })).toMatchObject({
      displayName: 'New',
      quota: 10,
      deletedAt: null,
    })
  })
})

describe('user.tokens', () => {
  const fields = { name: 'batch' }

  it('shows a key when it is made or asked for, and otherwise only its ends', async () => {
    const { api } = await user()
    const { id, key } = await api.user.tokens.create(fields)
    const { items } = await api.user.tokens.list({})
    expect(items[0]).toMatchObject({ id, keyMask: `${key.slice(0, 3)}***${key.slice(-3)}`, expiresAt: null })
    expect(items[0]?.createdAt).toBeInstanceOf(Date)
    expect(JSON.stringify([items, await api.user.tokens.get({ id }), await api.user.tokens.search({})])).not.toContain(
      key,
    )
    expect(await api.user.tokens.reveal({ id })).toEqual({ key })
    const otherUser = (await user()).api
    expect(await refusalOf(otherUser.user.tokens.reveal({ id }))).toBe('token.not_found')
  })

  it('makes several under names that tell them apart and fit', async () => {
    const { api } = await user()
    const tokens = await api.user.tokens.createMany({ name: 'n'.repeat(30), count: 3 })
    expect(tokens.map(({ name }) => name)).toEqual([
      'n'.repeat(30),
      expect.stringMatching(/^n{23}-[0-9A-Za-z]{6}$/),
      expect.stringMatching(/^n{23}-[0-9A-Za-z]{6}$/),
    ])
    expect(new Set(tokens.map(({ key }) => key)).size).toBe(3)
    for (const count of [0, -1, 1.5, 101]) {
      expect(await refusalOf(api.user.tokens.createMany({ ...fields, count }))).not.toBeNull()
    }
    expect(await refusalOf(api.user.tokens.createMany({ ...fields, name: '' }))).toBe('token.name_required')
    expect((await api.user.tokens.list({})).total).toBe(3)
  })

  it('refuses a mistyped address instead of letting everybody in', async () => {
    const { api } = await user()
    expect(await refusalOf(api.user.tokens.create({ ...fields, allowIps: '10.0.0.1\n10.0.0' }))).toBe(
      'token.addresses_invalid',
    )
  })

  it('refuses an expiry that has passed, and leaves one that was stored as it is', async () => {
    const { api } = await user()
    const past = new Date(Date.now() - 60_000)
    expect(await refusalOf(api.user.tokens.create({ ...fields, expiresAt: past }))).toBe('token.expiry_past')
    expect(await refusalOf(api.user.tokens.createMany({ ...fields, expiresAt: past }))).toBe('token.expiry_past')
    const { id } = await api.user.tokens.create({ ...fields, expiresAt: new Date(Date.now() + 60_000) })
    expect(await refusalOf(api.user.tokens.update({ ...fields, id, expiresAt: past }))).toBe('token.expiry_past')
    await app.sql('update tokens set expires_at = $2 where id = $1', [id, past])
    expect(await api.user.tokens.update({ name: 'renamed', id, expiresAt: past })).toMatchObject({ name: 'renamed' })
    expect((await api.user.tokens.list({})).total).toBe(1)
  })

  it('leaves what calls have left of the quota when an update does not name it', async () => {
    const { api } = await user()
    const { id } = await api.user.tokens.create({ ...fields, remainQuota: 100 })
    await app.sql('update tokens set remain_quota = remain_quota - 30 where id = $1', [id])
    expect(await api.user.tokens.update({ id, name: 'renamed' })).toMatchObject({ name: 'renamed', remainQuota: 70 })
    expect(await api.user.tokens.update({ id, name: 'renamed', remainQuota: 10 })).toMatchObject({ remainQuota: 10 })
  })

  it('keeps the former quota when a refused update named another', async () => {
    const { api } = await user()
    const { id } = await api.user.tokens.create({ ...fields, remainQuota: 100 })
    expect(await refusalOf(api.user.tokens.update({ id, name: 'x', remainQuota: 1e9, group: 'staff' }))).toBe(
      'token.group_forbidden',
    )
    expect(await api.user.tokens.get({ id })).toMatchObject({ remainQuota: 100, name: 'batch' })
  })
})

describe('site and groups', () => {
  it('shows the login page which ways in are open', async () => {
    const api = await app.trpc(null)
    expect(await api.site.status()).toMatchObject({
      registerEnabled: true,
      passwordLoginEnabled: true,
      startedAt: expect.any(Date),
    })
    expect(await api.auth.whoami()).toBeNull()
  })

  it('lists the own group first', async () => {
    const { api } = await user({ group: 'svip' })
    expect((await api.user.groups.list()).map(({ name }) => name)).toEqual(['svip', 'default', 'vip'])
  })
})

describe('rights', () => {
  it('ask an anonymous visitor to sign in and an ordinary user to leave', async () => {
    const anonymous = await app.trpc(null)
    const { api } = await user()
    for (const call of [
      () => anonymous.user.account.get(),
      () => anonymous.user.account.createAccessToken(),
      () => anonymous.user.tokens.list({}),
      () => anonymous.user.tokens.createMany({ name: 'x' }),
      () => anonymous.user.groups.list(),
      () => anonymous.auth.bindEmail({ email: 'a@b.example', code: 'x' }),
      () => anonymous.admin.users.list({}),
    ]) {
      expect(await refusalOf(call())).toBe('session.required')
    }
    for (const call of [
      () => api.admin.users.list({}),
      () => api.admin.users.create({ username: 'x', password: 'long enough' }),
      () => api.admin.users.remove({ id: 1 }),
      () => api.admin.groups.names(),
      () => api.admin.site.probe(),
    ]) {
      expect(await refusalOf(call())).toBe('session.role_insufficient')
    }
  })

  it('do not move for a page of another site', async () => {
    const { person } = await user()
    const api = await app.trpc(person, { crossSite: true })
    expect(await refusalOf(api.user.account.createAccessToken())).toBe('session.cross_site')
    expect(await refusalOf(api.auth.logout())).toBe('session.cross_site')
    expect(await api.user.account.get()).toMatchObject({ id: person.id })
  })
})
