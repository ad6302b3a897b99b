import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { optionKeys } from '#core/options/registry/index.ts'
import { Option } from '#db/entities/option.ts'
import { connect } from '#db/orm.ts'
import type { Context } from '#features/deps.ts'
import { createCallerFactory, router } from '#features/procedures.ts'
import { optionsAdminRouter } from '#features/options/router.ts'
import { optionRoutes } from '#features/options/rest.ts'
import { loadOptionRows, readWithin } from '#features/options/service.ts'
import { createOptionsStore } from '#features/options/store.ts'
import { createSecrets } from '#features/secrets/service.ts'
import type { Api } from '#server/app-router.ts'
import { createDatabase } from '#test/support/database.ts'
import { rules as effects } from '#test/rules/options.ts'
import { rulesOf } from '#test/rules/rule.ts'
import { codeOf } from '#test/support/console-app.ts'

const secrets = createSecrets('a secret key of tests')
const callerOf = createCallerFactory(router({ admin: router({ options: optionsAdminRouter }) }))

const testDatabase = await createDatabase()
const database = await connect(testDatabase.connection, 4)
afterAll(async () => {
  await database.close()
  await testDatabase[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await database.orm.em.fork().nativeDelete(Option, {})
})

const newStore = () =>
  createOptionsStore({ load: () => loadOptionRows({ read: readWithin(database.orm.em.fork()), secrets }) })

function callAs(role: number | null, options = newStore()) {
  const context = {
    em: database.orm.em.fork(),
    secrets,
    options,
    ambient: { now: () => new Date(), newId: () => '', random: () => 0 },
    barrier: async () => {},
    actor: role === null ? null : { id: 1, username: 'someone', role, group: 'default', via: 'session' },
    refusal: null,
    crossSite: false,
    client: { ip: '127.0.0.1' },
    log: { error: () => {} },
  } as unknown as Context
  const api = callerOf(context)
  return { api, options: api.admin.options, store: options, rest: api as unknown as Api }
}

const storedText = async (key: string) => (await database.orm.em.fork().findOne(Option, { key }))?.value

describe('options', () => {
  it('have each a test of what they change where they act', () => {
    expect(
      rulesOf(effects)
        .map(({ rule }) => rule.slice(0, rule.indexOf(':')))
        .toSorted(),
    ).toEqual([...optionKeys].toSorted())
  })

  it('are for root alone', async () => {
    const change = { key: 'RetryTimes', value: '1' }
    expect(await codeOf(callAs(null).options.list())).toBe('session.required')
    expect(await codeOf(callAs(1).options.list())).toBe('session.role_insufficient')
    expect(await codeOf(callAs(10).options.texts())).toBe('session.role_insufficient')
    expect(await codeOf(callAs(10).options.update(change))).toBe('session.role_insufficient')
    expect(await codeOf(callAs(10).options.save({ changes: [change] }))).toBe('session.role_insufficient')
    expect(await codeOf(callAs(10).options.reset({ keys: ['RetryTimes'] }))).toBe('session.role_insufficient')
    expect(await codeOf(callAs(10).options.mapping.update({ mapping: {} }))).toBe('session.role_insufficient')
    expect(await storedText('RetryTimes')).toBeUndefined()
  })

  it('are live at once where they are changed, and for every process that loads them', async () => {
    const { options, store } = callAs(100)
    await options.update({ key: 'ServerAddress', value: 'https://gw.example/' })
    expect(store.get('ServerAddress')).toBe('https://gw.example')
    const other = newStore()
    await other.reload()
    expect(other.get('ServerAddress')).toBe('https://gw.example')
  })

  it('keep secrets encrypted in the database and never give them back', async () => {
    const { options, store } = callAs(100)
    await options.update({ key: 'SMTPToken', value: 'hunter2' })
    await options.update({ key: 'SomeUnknownSecret', value: 'hunter3' })
    expect(store.get('SMTPToken')).toBe('hunter2')
    expect(await storedText('SMTPToken')).not.toContain('hunter2')
    expect(await storedText('SomeUnknownSecret')).not.toContain('hunter3')
    const shown = JSON.stringify([await options.list(), await options.texts()])
    expect(shown).not.toMatch(/hunter/)
    expect((await options.list()).find(({ key }) => key === 'SMTPToken')).toMatchObject({ value: null, isSet: true })
  })

  it('stand at their default when a secret cannot be decrypted', async () => {
    await callAs(100).options.update({ key: 'SMTPToken', value: 'hunter2' })
    const lost: string[] = []
    const rows = await loadOptionRows(
      { read: readWithin(database.orm.em.fork()), secrets: createSecrets('another key') },
      (key) => lost.push(key),
    )
    expect([rows, lost]).toEqual([[], ['SMTPToken']])
  })

  it('keep what older clients read and nothing here needs, and give it back', async () => {
    const { options } = callAs(100)
    const stored = {
      StreamCacheQueueLength: '7',
      FileUploadPermission: '5',
      FileDownloadPermission: '6',
      ImageUploadPermission: '7',
      ImageDownloadPermission: '8',
      StopOnSensitiveEnabled: 'false',
    }
    for (const [key, value] of Object.entries(stored)) await options.update({ key, value })
    const texts = new Map((await options.texts()).map(({ key, value }) => [key, value]))
    expect(Object.fromEntries(Object.keys(stored).map((key) => [key, texts.get(key)]))).toEqual(stored)
  })

  it('list every documented key as text, without those named like a credential', async () => {
    const { options } = callAs(100)
    await options.update({ key: 'custom.key_of_a_client', value: 'stored' })
    const texts = new Map((await options.texts()).map(({ key, value }) => [key, value]))
    expect(texts.get('RetryTimes')).toBe('2')
    expect(texts.get('RegisterEnabled')).toBe('true')
    expect(JSON.parse(texts.get('ModelRatio') ?? '')).toMatchObject({ 'gpt-4o': 1.25 })
    expect(texts.get('custom.key_of_a_client')).toBe('stored')
    const hidden = ['TurnstileSiteKey', 'EpayKey', 'WorkerValidKey', 'SMTPToken', 'oidc.client_secret']
    expect(hidden.filter((key) => texts.has(key))).toEqual([])
  })

  it('refuse what breaks their rules and store nothing of it', async () => {
    const { options, store } = callAs(100)
    const refused = (key: string, value: string) => codeOf(options.update({ key, value }))
    expect(await refused('ModelRatio', '{')).toBe('option.not_json')
    expect(await refused('GroupRatio', '{"vip":-1}')).toBe('option.group_ratio_negative')
    expect(await refused('GitHubOAuthEnabled', 'true')).toBe('option.requires')
    expect(await refused('', 'x')).toBe('option.key_required')
    expect(await refused('Notice', 'a\0b')).toBe('option.invalid')
    expect(await refused('k'.repeat(256), 'x')).toBe('option.too_long')
    expect(await database.orm.em.fork().count(Option)).toBe(0)
    expect(store.get('GitHubOAuthEnabled')).toBe(false)
  })

  it('see a prerequisite that another process has just saved', async () => {
    await callAs(100).options.update({ key: 'GitHubClientId', value: 'id' })
    const { options, store } = callAs(100)
    await options.update({ key: 'GitHubOAuthEnabled', value: 'true' })
    expect(store.get('GitHubOAuthEnabled')).toBe(true)
  })

  it('keep every one of many changes made at once', async () => {
    const store = newStore()
    const keys = ['RetryTimes', 'CheckInQuota', 'QuotaForNewUser', 'MinTopUp', 'PreConsumedQuota', 'SMTPPort']
    await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        callAs(100, store).options.update({ key: keys[index % keys.length] ?? '', value: String(10 + index) }),
      ),
    )
    const rows = await database.orm.em.fork().find(Option, {})
    expect(rows.map(({ key }) => key).toSorted()).toEqual(keys.toSorted())
    for (const { key, value } of rows) expect(store.snapshot().texts.get(key)).toBe(value)
  })
})

describe('saving a form', () => {
  it('leaves alone what somebody else has saved since the form was opened, and saves the rest', async () => {
    const { options, store } = callAs(100)
    await options.save({
      changes: [
        { key: 'GroupRatio', value: { default: 1, vip: 0.8 }, expected: { default: 1, vip: 1, svip: 1 } },
        { key: 'Notice', value: 'first', expected: '' },
      ],
    })
    const late = await callAs(100).options.save({
      changes: [
        {
          key: 'GroupRatio',
          value: { default: 1, vip: 1, svip: 1, gold: 2 },
          expected: { default: 1, vip: 1, svip: 1 },
        },
        { key: 'Notice', value: 'first', expected: '' },
        { key: 'Footer', value: 'mine', expected: '' },
      ],
    })
    expect(late.saved.toSorted()).toEqual(['Footer', 'Notice'])
    expect(late.failed).toMatchObject([{ key: 'GroupRatio', code: 'option.changed_meanwhile' }])
    await store.reload()
    expect(store.get('GroupRatio')).toEqual({ default: 1, vip: 0.8 })
  })

  it('takes a switch and what it needs together', async () => {
    const { options, store } = callAs(100)
    const result = await options.save({
      changes: [
        { key: 'oidc.client_id', value: 'client' },
        { key: 'oidc.enabled', value: true },
      ],
    })
    expect(result).toEqual({ cleared: [], saved: ['oidc.enabled', 'oidc.client_id'], failed: [] })
    expect([store.get('oidc.enabled'), store.get('oidc.client_id')]).toEqual([true, 'client'])
  })

  it('saves what it can and says of the rest why not', async () => {
    const { options, store } = callAs(100)
    const result = await options.save({
      changes: [
        { key: 'global.auto_retry_count', value: 11 },
        { key: 'ModelRatio', value: { 'gpt-4o': 2 } },
        { key: 'PayAddress', value: 'https://pay.example' },
        { key: 'fallback_single_price', value: 1 },
        { key: 'fallback_input_ratio', value: 1 },
      ],
    })
    expect(result.saved).toEqual(['ModelRatio'])
    expect(new Map(result.failed.map(({ key, code }) => [key, code]))).toEqual(
      new Map([
        ['global.auto_retry_count', 'option.too_large'],
        ['PayAddress', 'option.requires_server_address'],
        ['fallback_single_price', 'option.fallback_pricing'],
        ['fallback_input_ratio', 'option.fallback_pricing'],
      ]),
    )
    expect(result.failed[0]?.message).toMatch(/自动重试次数/)
    expect(store.get('ModelRatio')).toEqual({ 'gpt-4o': 2 })
    expect(store.get('PayAddress')).toBe('')
  })

  it('refuses a switch whose prerequisite in the same form is refused', async () => {
    const { options, store } = callAs(100)
    const result = await options.save({
      changes: [
        { key: 'WeChatServerAddress', value: 'not an address' },
        { key: 'WeChatAuthEnabled', value: true },
      ],
    })
    expect(result.saved).toEqual([])
    expect(result.failed.map(({ code }) => code).toSorted()).toEqual(['option.not_address', 'option.requires'])
    expect(store.get('WeChatAuthEnabled')).toBe(false)
  })

  it('puts options back to their defaults', async () => {
    const { options, store } = callAs(100)
    await options.save({
      changes: [
        { key: 'ModelRatio', value: {} },
        { key: 'RetryTimes', value: 9 },
      ],
    })
    await options.reset({ keys: ['RetryTimes'] })
    expect([store.get('RetryTimes'), store.get('ModelRatio')]).toEqual([2, {}])
    await options.resetModelRatio()
    expect(store.get('ModelRatio')['gpt-4o']).toBe(1.25)
  })
})

describe('the model mapping', () => {
  it('is replaced as a whole, trimmed, and given back', async () => {
    const { options, store } = callAs(100)
    expect(await options.mapping.get()).toEqual({ mapping: {} })
    const mapping = {
      ' fast ': [
        { model: ' gpt-4o-mini', priorities: 1 },
        { model: 'gpt-4o', priorities: 0, weight: 5 },
      ],
    }
    const expected = {
      mapping: {
        fast: [
          { model: 'gpt-4o-mini', priorities: 1, weight: 0 },
          { model: 'gpt-4o', priorities: 0, weight: 5 },
        ],
      },
    }
    expect(await options.mapping.update({ mapping })).toEqual(expected)
    expect(await options.mapping.get()).toEqual(expected)
    expect(store.get('global_model_mapping')).toEqual(expected)
    expect(await codeOf(options.mapping.update({ mapping: { fast: [] } }))).toBe('mapping.entries_required')
  })

  it('is not replaced by one that began with another', async () => {
    const { options } = callAs(100)
    const first = { fast: [{ model: 'gpt-4o-mini', priorities: 0, weight: 0 }] }
    const second = { smart: [{ model: 'gpt-5', priorities: 0, weight: 0 }] }
    await options.mapping.update({ mapping: first, expected: {} })
    const late = callAs(100).options.mapping.update({ mapping: second, expected: {} })
    expect(await codeOf(late)).toBe('mapping.changed_meanwhile')
    expect(await options.mapping.get()).toEqual({ mapping: first })
  })

  it('cannot be reloaded when the stored text is broken', async () => {
    const { options } = callAs(100)
    await options.mapping.reload()
    const row = { key: 'global_model_mapping', value: '{"mapping":', updatedAt: new Date() }
    await database.orm.em.fork().upsert(Option, row)
    expect(await codeOf(options.mapping.reload())).toBe('mapping.unreadable')
  })
})

describe('the documented calls', () => {
  const send = async (route: keyof typeof optionRoutes, body: Record<string, unknown>, rest: Api) => {
    const row = optionRoutes[route]
    if (row?.kind !== 'bound') throw new Error(`${route} is not served`)
    const request = { params: {}, query: {}, body }
    const output = await row.call(rest, request)
    return { data: row.reply(output, request), message: row.message(output) }
  }

  it('take switches and numbers as themselves', async () => {
    const { rest, store } = callAs(100)
    await send('PUT /api/option/', { key: 'RegisterEnabled', value: false }, rest)
    const reply = await send('PUT /api/option/', { key: 'RetryTimes', value: 3 }, rest)
    expect([store.get('RegisterEnabled'), store.get('RetryTimes'), reply.data]).toEqual([false, 3, undefined])
    expect(await send('GET /api/option/', {}, rest)).toMatchObject({
      data: expect.arrayContaining([{ key: 'RegisterEnabled', value: 'false' }]) as unknown,
    })
  })

  it('say something on success where clients show it', async () => {
    const { rest } = callAs(100)
    const mapping = { fast: [{ model: 'gpt-4o', priorities: 0 }] }
    expect((await send('POST /api/option/rest_model_ratio', {}, rest)).message).not.toBe('')
    expect((await send('PUT /api/model_mapping/', { mapping }, rest)).message).not.toBe('')
    expect((await send('POST /api/model_mapping/reload', {}, rest)).message).not.toBe('')
    expect((await send('GET /api/model_mapping/', {}, rest)).data).toEqual({
      mapping: { fast: [{ model: 'gpt-4o', priorities: 0, weight: 0 }] },
    })
  })
})

describe('a secret', () => {
  const bound = [
    ['SMTPToken', 'SMTPServer', 'mail.example', 'evil.example'],
    ['WorkerValidKey', 'WorkerUrl', 'https://worker.example', 'https://evil.example'],
    ['EpayKey', 'PayAddress', 'https://pay.example', 'https://evil.example'],
    ['WeChatServerToken', 'WeChatServerAddress', 'https://wechat.example', 'https://evil.example'],
    ['oidc.client_secret', 'oidc.token_endpoint', 'https://id.example/token', 'https://evil.example/token'],
  ] as const

  it.each(bound)(
    '%s does not follow %s to another address, by whichever route',
    async (secret, address, first, other) => {
      const { options, store, rest } = callAs(100)
      const start = async () => {
        await options.save({
          changes: [
            { key: 'ServerAddress', value: 'https://us.example' },
            { key: address, value: first },
            { key: secret, value: 'typed' },
          ],
        })
        expect(store.get(secret)).toBe('typed')
      }
      await start()
      expect(await options.save({ changes: [{ key: address, value: other }] })).toMatchObject({ cleared: [secret] })
      expect(store.get(secret)).toBe('')
      await start()
      expect(await options.update({ key: address, value: other })).toEqual({ cleared: [secret] })
      expect(store.get(secret)).toBe('')
      await start()
      expect(await options.reset({ keys: [address] })).toEqual({ cleared: [secret] })
      expect(store.get(secret)).toBe('')
      await start()
      const route = optionRoutes['PUT /api/option/']
      if (route?.kind !== 'bound') throw new Error('no such route')
      const reply = await route.call(rest, { params: {}, query: {}, body: { key: address, value: other } })
      expect(route.message(reply)).toContain('请重新填写')
      expect(store.get(secret)).toBe('')
      expect(await storedText(secret)).toBe('')
    },
  )

  it('goes along when it is typed again, and stays where nothing of its address changes', async () => {
    const { options, store } = callAs(100)
    // One by one, as older clients save; an address that is filled in for the first time takes nothing elsewhere.
    await options.update({ key: 'SMTPToken', value: 'typed' })
    await options.update({ key: 'SMTPServer', value: 'mail.example' })
    await options.update({ key: 'SMTPAccount', value: 'somebody' })
    await options.update({ key: 'SMTPServer', value: ' mail.example ' })
    expect(store.get('SMTPToken')).toBe('typed')
    const changes = [
      { key: 'SMTPServer', value: 'other.example' },
      { key: 'SMTPToken', value: 'typed again' },
    ]
    expect(await options.save({ changes })).toMatchObject({ cleared: [], failed: [] })
    expect(store.get('SMTPToken')).toBe('typed again')
    await options.update({ key: 'SMTPPort', value: '2525' })
    expect(store.get('SMTPToken')).toBe('')
  })

  it('is not taken along by an address that is refused', async () => {
    const { options, store } = callAs(100)
    await options.update({ key: 'WorkerUrl', value: 'https://worker.example' })
    await options.update({ key: 'WorkerValidKey', value: 'typed' })
    await options.save({ changes: [{ key: 'WorkerUrl', value: 'ftp://evil.example' }] })
    expect([store.get('WorkerUrl'), store.get('WorkerValidKey')]).toEqual(['https://worker.example', 'typed'])
  })
})
