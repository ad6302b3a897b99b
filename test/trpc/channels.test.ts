import { beforeEach, describe, expect, it } from 'vitest'
import type { RouterInputs } from '#server/app-router.ts'
import { ChannelKey } from '#db/entities/channel-key.ts'
import { codeOf, startFileConsole } from '#test/support/console-app.ts'
import { expectIndexInOrder } from './channel-index.ts'

const app = await startFileConsole()
const root = await app.person({ role: 100 })
const admin = await app.person({ role: 10 })
const user = await app.person()
beforeEach(async () => {
  await app.sql('truncate channels, channel_keys, abilities, channel_probes')
})

const asAdmin = async () => (await app.trpc(admin)).admin.channels
const asRoot = async () => (await app.trpc(root)).admin.channels

type Input = Partial<RouterInputs['admin']['channels']['create']>

const create = async (wanted: Input = {}) =>
  (await asAdmin()).create({ name: 'one', type: 1, key: 'sk-aaaaaaaa', models: ['gpt-4o', 'gpt-4o-mini'], ...wanted })

describe('channels', () => {
  it('are for administrators alone', async () => {
    const procedures = Object.entries({
      list: {},
      search: {},
      get: { id: 1 },
      health: { ids: [] },
      create: { name: 'a', type: 1, key: 'k', models: ['m'] },
      update: { id: 1 },
      copy: { id: 1 },
      setStatus: { id: 1, status: 1 },
      setStatusOfMany: { ids: [1], status: 1 },
      matching: {},
      unpriced: { ids: [1] },
      cooldowns: { ids: [1] },
      enable: { id: 1 },
      disable: { id: 1 },
      setKeyStatus: { id: 1, position: 0, status: 1 },
      setPriority: { id: 1, priority: 1 },
      setWeight: { id: 1, weight: 1 },
      remove: { id: 1 },
      removeMany: { ids: [1] },
      removeDisabled: undefined,
      setTag: { ids: [1], tag: 'a' },
      fixAbilities: undefined,
      models: undefined,
      modelsEnabled: undefined,
      fetchModelsOf: { id: 1 },
      fetchModels: { type: 1, key: 'k' },
      probe: { id: 1 },
      updateBalance: { id: 1 },
      drifts: { ids: [1] },
      runs: undefined,
      testAll: undefined,
      startBalances: undefined,
      updateBalances: undefined,
      cancelRun: { name: 'channel-tests' },
    })
    const tagProcedures = Object.entries({ list: {}, edit: { tag: 'a' }, enable: { tag: 'a' }, disable: { tag: 'a' } })
    for (const [person, code] of [
      [user, 'session.role_insufficient'],
      [null, 'session.required'],
    ] as const) {
      const { channels } = (await app.trpc(person)).admin
      const call = (from: object, name: string, input: unknown) =>
        (from as Record<string, (input: unknown) => Promise<unknown>>)[name]?.(input) ?? Promise.resolve()
      for (const [name, input] of procedures) expect(await codeOf(call(channels, name, input)), name).toBe(code)
      for (const [name, input] of tagProcedures) expect(await codeOf(call(channels.tags, name, input)), name).toBe(code)
    }
  })

  it('are created with defaults, an index and keys that the database cannot give away', async () => {
    const created = await create({
      key: 'sk-first,\n sk-second',
      groups: ['default', 'vip'],
      baseUrl: 'https://up.example/',
    })
    expect(created).toMatchObject({
      status: 1,
      autoBan: true,
      priority: 0,
      baseUrl: 'https://up.example',
      groups: ['default', 'vip'],
      models: ['gpt-4o', 'gpt-4o-mini'],
      unpriced: [],
    })
    const [row] = await app.sql('select * from channels')
    expect(JSON.stringify([row, await app.sql('select * from channel_keys')])).not.toMatch(/sk-first|sk-second/)
    expect((await app.em().find(ChannelKey, { channelId: created.id })).map(({ position }) => position)).toEqual([0, 1])
    expect(await app.sql('select 1 from abilities')).toHaveLength(4)
    await expectIndexInOrder(app)
  })

  it('show their key to root alone, and to nobody in lists', async () => {
    const { id } = await create({
      key: 'sk-top-secret-1,sk-top-secret-2',
      setting: '{"proxy":"socks5://bob:pa@ss@10.0.0.1:1080"}',
      tag: 't',
    })
    expect((await (await asRoot()).get({ id })).key).toBe('sk-top-secret-1,sk-top-secret-2')
    expect((await (await asRoot()).get({ id })).setting).toContain('pa@ss')
    expect(JSON.stringify(await app.sql('select * from channels'))).not.toContain('pa@ss')
    const channels = await asAdmin()
    const seen = [
      await channels.get({ id }),
      await channels.list({}),
      await channels.list({ tagMode: true }),
      await channels.search({ keyword: 'sk-top-secret-1' }),
      await channels.update({ id, weight: 3 }),
      await channels.setStatus({ id, status: 2 }),
      await channels.copy({ id }),
      await (await asRoot()).list({}),
      await (await asRoot()).update({ id, weight: 4 }),
    ]
    expect(JSON.stringify(seen)).not.toContain('sk-top-secret')
    expect(JSON.stringify(seen)).not.toContain('pa@ss')
    expect(JSON.stringify(seen[0])).toContain('bob:***@10.0.0.1')
    // Saving what was shown keeps what was hidden.
    await channels.update({ id, setting: (await channels.get({ id })).setting })
    await (await asRoot()).update({ id, setting: (await channels.get({ id })).setting })
    expect((await (await asRoot()).get({ id })).setting).toContain('bob:pa@ss@')
    const copy = await channels.copy({ id })
    expect((await (await asRoot()).get({ id: copy.id })).setting).toContain('bob:pa@ss@')
    expect(JSON.stringify(await app.sql('select * from channels'))).not.toContain('pa@ss')
  })

  it('refuse what breaks their rules', async () => {
    const refused = (wanted: Input) => codeOf(create(wanted))
    expect(await refused({ name: ' ' })).toBe('channel.name_and_key_required')
    expect(await refused({ key: ' ' })).toBe('channel.name_and_key_required')
    expect(await refused({ key: ',\n' })).toBe('channel.key_required')
    expect(await refused({ models: [' '] })).toBe('channel.models_required')
    expect(await refused({ groups: [] })).toBe('channel.groups_required')
    expect(await refused({ type: 999 })).toBe('channel.type_unknown')
    expect(await refused({ type: 28 })).toBe('channel.type_unknown')
    expect(await refused({ type: 15, key: 'no-parts' })).toBe('channel.key_invalid')
    expect(await refused({ models: ['模'.repeat(256)] })).toBe('channel.model_name_too_long')
    expect(await refused({ modelMapping: '{' })).toBe('channel.model_mapping_invalid')
    expect(await refused({ modelMapping: '{"a":1}' })).toBe('channel.model_mapping_invalid')
    expect(await refused({ statusCodeMapping: '[]' })).toBe('channel.status_code_mapping_invalid')
    expect(await refused({ setting: 'null' })).toBe('channel.setting_invalid')
    expect(await refused({ setting: '{"proxy":"ftp://a"}' })).toBe('channel.setting_invalid')
    expect(await refused({ paramOverride: '3' })).toBe('channel.param_override_invalid')
    expect(await refused({ type: 41, key: 'AIza', other: '' })).toBe('channel.region_required')
    expect(await refused({ type: 41, key: 'AIza', other: '{"a"' })).toBe('channel.region_invalid')
    expect(await refused({ type: 41, key: 'AIza', other: 'x.evil.example/' })).toBe('channel.region_invalid')
    expect(await refused({ type: 41, key: 'AIza', other: '{"a":"us-east5"}' })).toBe('channel.region_default_missing')
    expect(await refused({ baseUrl: 'file:///etc/passwd' })).toBe('url.invalid')
    expect(await refused({ baseUrl: 'https://user:pass@up.example' })).toBe('url.invalid')
    expect(await refused({ baseUrl: 'http://169.254.169.254' })).toBe('channel.address_forbidden')
    expect(await refused({ setting: '{"proxy":"http://169.254.169.254"}' })).toBe('channel.address_forbidden')
    expect(await refused({ openaiOrganization: 'org\r\nX-Evil: 1' })).toBe('BAD_REQUEST')
    expect(await refused({ models: ['a\r\nb'] })).toBe('BAD_REQUEST')
    expect(await refused({ weight: -1 })).toBe('BAD_REQUEST')
    expect(await app.sql('select id from channels')).toEqual([])
  })

  it('may be private, and keep JSON that tries to reach object prototypes as harmless text', async () => {
    const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
    const created = await create({ baseUrl: 'http://10.0.0.7:8000', paramOverride: text, setting: text })
    expect(created.paramOverride).toBe(text)
    expect('polluted' in {}).toBe(false)
  })

  it('get the version their type wants where none is given', async () => {
    expect((await create({ type: 18, key: 'a|b|c' })).other).toBe('v2.1')
  })

  it('are changed in part, whatever else may be wrong with them', async () => {
    const { id } = await create({ tag: 'old' })
    await app.sql(`update channels set setting = 'broken', type = 41 where id = $1`, [id])
    const channels = await asAdmin()
    expect(await channels.setPriority({ id, priority: 9 })).toMatchObject({
      priority: 9,
      setting: 'broken',
      tag: 'old',
    })
    expect(await channels.setWeight({ id, weight: 4 })).toMatchObject({ weight: 4, priority: 9 })
    expect(await channels.update({ id, tag: '', models: ['claude-3-5-haiku'] })).toMatchObject({ tag: '', weight: 4 })
    await expectIndexInOrder(app)
    expect(await codeOf(channels.update({ id: id + 1, weight: 1 }))).toBe('channel.not_found')
  })

  it('are not overwritten by a change that began before another', async () => {
    const { id } = await create({ models: ['a'] })
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, async (_, index) =>
        (await asAdmin()).update({ id, models: ['a', `m${index}`], expected: { models: ['a'] } }),
      ),
    )
    const refused = results.flatMap((result) =>
      result.status === 'rejected' ? [codeOf(Promise.reject(result.reason))] : [],
    )
    expect(new Set(await Promise.all(refused))).toEqual(new Set(['input.changed_meanwhile']))
    expect(refused).toHaveLength(49)
    // A row of before may hold what would not be taken now, which is no reason to keep it.
    await app.sql('update channels set openai_organization = $2 where id = $1', [id, 'Größe '])
    const changed = { openaiOrganization: 'org', expected: { openaiOrganization: 'Größe ' } }
    expect(await (await asAdmin()).update({ id, ...changed })).toMatchObject({ openaiOrganization: 'org' })
    // What nobody else has touched may still be changed, by a form that was opened before.
    expect(await (await asAdmin()).update({ id, weight: 4, expected: { weight: 0 } })).toMatchObject({ weight: 4 })
    expect((await (await asAdmin()).get({ id })).models).toHaveLength(2)
  })

  it('send a stored key to another host by the word of root alone: an administrator types it again', async () => {
    const { id } = await create({ baseUrl: 'https://up.example' })
    const channels = await asAdmin()
    expect(await codeOf(channels.update({ id, baseUrl: 'https://evil.example' }))).toBe(
      'channel.key_needed_for_address',
    )
    expect(await codeOf(channels.update({ id, baseUrl: '' }))).toBe('channel.key_needed_for_address')
    expect(await codeOf(channels.update({ id, type: 14 }))).toBe('channel.key_needed_for_address')
    const moved = await (await asRoot()).update({ id, baseUrl: 'https://moved.example', type: 14 })
    expect(moved).toMatchObject({ baseUrl: 'https://moved.example', type: 14 })
    expect((await (await asRoot()).get({ id })).key).toBe('sk-aaaaaaaa')
    await (await asRoot()).update({ id, baseUrl: 'https://up.example', type: 1 })
    expect(await channels.update({ id, baseUrl: 'https://up.example/', type: 1 })).toMatchObject({ id })
    await channels.update({ id, baseUrl: 'http://other.example', key: 'sk-typed-again' })
    expect((await (await asRoot()).get({ id })).key).toBe('sk-typed-again')
    // An unencrypted upstream shows its key to whatever proxy stands before it.
    expect(await codeOf(channels.update({ id, setting: '{"proxy":"http://evil.example:1"}' }))).toBe(
      'channel.key_needed_for_address',
    )
  })

  it('are sent elsewhere with their keys all at once, more of them than there are connections', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => create()))
    const channels = await asRoot()
    const moved = await Promise.all(made.map(({ id }) => channels.update({ id, baseUrl: 'https://moved.example' })))
    expect(new Set(moved.map(({ baseUrl }) => baseUrl))).toEqual(new Set(['https://moved.example']))
  })

  it('keep the state of a key that stays when others change', async () => {
    const { id } = await create({ key: 'sk-aaaaaaaa,sk-bbbbbbbb' })
    const channels = await asAdmin()
    await channels.setKeyStatus({ id, position: 1, status: 2 })
    await channels.update({ id, key: 'sk-bbbbbbbb,sk-cccccccc' })
    expect((await channels.get({ id })).keys.map(({ status }) => status)).toEqual([2, 1])
    await channels.setKeyStatus({ id, position: 1, status: 2 })
    expect((await channels.get({ id })).status).toBe(2)
    await expectIndexInOrder(app)
  })

  it('serve once a person switches them on: where every key was switched off, all of them come back', async () => {
    const { id } = await create({ key: 'sk-aaaaaaaa,sk-bbbbbbbb', tag: 'pair' })
    const channels = await asAdmin()
    const keys = async () => (await channels.get({ id })).keys.map(({ status }) => status)
    const switchOff = async (positions: number[]) => {
      for (const position of positions) await channels.setKeyStatus({ id, position, status: 2 })
    }
    for (const switchOn of [
      () => channels.enable({ id }),
      () => channels.setStatus({ id, status: 1, keepKeys: true }),
      () => channels.setStatusOfMany({ ids: [id], status: 1 }),
      () => channels.tags.enable({ tag: 'pair' }),
      () => channels.update({ id, status: 1 }),
    ]) {
      await switchOff([0, 1])
      expect(await channels.get({ id })).toMatchObject({ status: 2 })
      await switchOn()
      expect([(await channels.get({ id })).status, await keys()]).toEqual([1, [1, 1]])
    }
    // One that is left is enough: what else a person switched off stays off.
    await switchOff([0])
    await channels.disable({ id })
    await channels.enable({ id })
    expect(await keys()).toEqual([2, 1])
    await channels.update({ id, key: 'sk-aaaaaaaa' })
    expect([(await channels.get({ id })).status, await keys()]).toEqual([1, [1]])
  })

  it('switch off the key that was shown, and none that has taken its place', async () => {
    const { id } = await create({ key: 'sk-aaaaaaaa,sk-bbbbbbbb' })
    const channels = await asAdmin()
    const [, shown] = (await channels.get({ id })).keys
    const expected = { fingerprint: shown?.fingerprint }
    await channels.update({ id, key: 'sk-aaaaaaaa,sk-cccccccc' })
    const off = { id, position: 1, status: 2 as const, expected }
    expect(await codeOf(channels.setKeyStatus(off))).toBe('input.changed_meanwhile')
    expect((await channels.get({ id })).keys.map(({ status }) => status)).toEqual([1, 1])
    await channels.update({ id, key: 'sk-aaaaaaaa,sk-bbbbbbbb' })
    await channels.setKeyStatus(off)
    expect((await channels.get({ id })).keys.map(({ status }) => status)).toEqual([1, 2])
  })

  it('name their models without a price', async () => {
    const models = ['gpt-4o', 'house-model', 'renamed']
    const modelMapping = '{"renamed":"gpt-4o"}'
    expect((await create({ models, modelMapping })).unpriced).toEqual(['house-model'])
    expect((await create({ type: 36, models: ['suno_music'] })).unpriced).toEqual([])
    await app.setOptions({ SelfUseModeEnabled: 'true' })
    expect((await create({ models, modelMapping })).unpriced).toEqual([])
    await app.setOptions({ SelfUseModeEnabled: 'false', redirect_billing_enabled: 'true' })
    expect((await create({ models, modelMapping })).unpriced).toEqual(['house-model', 'renamed'])
    await app.setOptions({ redirect_billing_enabled: 'false' })
  })

  it('keep their index right when they are changed and repaired many times at once', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `model-${index}`)
    const { id } = await create({ models: names })
    const other = await create({ tag: 'pair' })
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(
        [0, 1, 2, 3].flatMap((index) => {
          const change = async (act: (channels: Awaited<ReturnType<typeof asAdmin>>) => Promise<unknown>) =>
            act(await asAdmin())
          return [
            change((channels) =>
              channels.update({ id, models: names.slice(index * 10), priority: round * 10 + index }),
            ),
            change((channels) => channels.setStatus({ id, status: index % 2 === 0 ? 1 : 2 })),
            change((channels) => channels.setTag({ ids: [other.id, id], tag: `tag ${index}` })),
            change((channels) => channels.fixAbilities()),
          ]
        }),
      )
      await expectIndexInOrder(app)
    }
  })

  it('are copied with their key and without their history', async () => {
    const { id } = await create({ key: 'sk-aaaaaaaa,sk-bbbbbbbb', priority: 5, groups: ['vip'] })
    await app.sql('update channels set used_quota = 7, balance = 3, response_time_ms = 9')
    await (await asAdmin()).disable({ id })
    const copy = await (await asAdmin()).copy({ id })
    expect(copy).toMatchObject({ name: 'one_复制', priority: 5, groups: ['vip'], usedQuota: 0, balance: 0, status: 2 })
    expect(await (await asRoot()).get({ id: copy.id })).toMatchObject({ key: 'sk-aaaaaaaa,sk-bbbbbbbb' })
    await expectIndexInOrder(app)
  })

  it('are copied with what their models cost, by which the calls of the copy are booked', async () => {
    const { id } = await create({})
    const buyingPrices = [{ model: '', from: 0, terms: { kind: 'share', share: 0.3 } }]
    await app.sql('update channels set buying_prices = $1::jsonb where id = $2', [JSON.stringify(buyingPrices), id])
    const { id: copied } = await (await asAdmin()).copy({ id })
    expect(await app.sql('select buying_prices from channels where id = $1', [copied])).toEqual([
      { buying_prices: buyingPrices },
    ])
  })
})
