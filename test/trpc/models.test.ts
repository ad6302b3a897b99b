import { beforeEach, describe, expect, it } from 'vitest'
import type { RouterInputs } from '#server/app-router.ts'
import { codeOf, type Person, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
const root = await app.person({ role: 100 })
const admin = await app.person({ role: 10 })
const user = await app.person()
beforeEach(async () => {
  await app.sql('truncate channels, channel_keys, abilities, options')
  await app.services.options.reload()
})

type Input = Partial<RouterInputs['admin']['channels']['create']>
const serve = async (input: Input) =>
  (await app.trpc(admin)).admin.channels.create({ name: 'one', type: 1, key: 'sk-a', models: ['gpt-4o'], ...input })

const pricing = async (person: Person | null) => (await app.trpc(person)).public.models.pricing()
const names = async (person: Person | null) => (await pricing(person)).items.map(({ model }) => model)

describe('the price list', () => {
  it('is open to anonymous visitors and shows each served model with its price and groups', async () => {
    await serve({ groups: ['vip', 'default'] })
    await serve({ models: ['dall-e-3'] })
    await serve({ type: 36, models: ['suno_music'] })
    const { items, groups } = await pricing(null)
    expect(items).toMatchObject([
      { model: 'dall-e-3', price: { kind: 'call', modelPrice: 0.04, modelRatio: null }, groups: ['default'] },
      { model: 'gpt-4o', price: { kind: 'ratio', modelRatio: 1.25, completionRatio: 4 }, groups: ['default', 'vip'] },
      { model: 'suno_music', price: { kind: 'call', modelPrice: 0.1 } },
    ])
    expect(groups).toContainEqual({ name: 'default', ratio: 1, description: '默认分组', groups: ['default'] })
  })

  it('leaves out what is not served and what its reader could not call for want of a price', async () => {
    const { id } = await serve({ models: ['gpt-4o', 'house-model'] })
    const lenient = await app.person({
      setting: {
        notify_type: 'email',
        quota_warning_threshold: 1,
        accept_unset_model_ratio_model: true,
        show_ip_in_logs: false,
      },
    })
    expect([await names(null), await names(user)]).toEqual([['gpt-4o'], ['gpt-4o']])
    expect(await names(lenient)).toEqual(['gpt-4o', 'house-model'])
    await app.setOptions({ SelfUseModeEnabled: 'true' })
    expect(await names(null)).toEqual(['gpt-4o', 'house-model'])
    await (await app.trpc(admin)).admin.channels.disable({ id })
    expect(await names(null)).toEqual([])
  })

  it('prices a model that channels rename by the name it is charged under', async () => {
    await serve({ models: ['my-gpt'], modelMapping: '{"my-gpt":"gpt-4o"}' })
    expect((await pricing(null)).items).toMatchObject([{ model: 'my-gpt', price: { modelRatio: 1.25 } }])
    await app.setOptions({ redirect_billing_enabled: 'true' })
    expect(await names(null)).toEqual([])
  })

  it('says what writing a cache costs where the price of the model has it, whatever its name', async () => {
    const modelMapping = '{"fast":"claude-sonnet-4-5-20250929","claude-like":"gpt-4o"}'
    await serve({ models: ['fast', 'claude-like', 'gpt-4o', 'house-model', 'claude-next'], modelMapping })
    await app.setOptions({
      ModelRatio: JSON.stringify({ ...app.services.options.get('ModelRatio'), 'house-model': 1, 'claude-next': 1 }),
      CreateCacheRatio: JSON.stringify({ ...app.services.options.get('CreateCacheRatio'), 'house-model': 1.5 }),
    })
    const { items } = await pricing(null)
    expect(Object.fromEntries(items.map(({ model, price }) => [model, price.cacheWriteRatio]))).toEqual({
      'claude-like': null,
      'claude-next': 1.25,
      fast: 1.25,
      'gpt-4o': null,
      'house-model': 1.5,
    })
  })

  it('shows a prefix, and the bare name beside it only for a group that has a channel without one', async () => {
    await serve({ modelPrefix: 'azure/', groups: ['default'] })
    expect(await names(user)).toEqual(['azure/gpt-4o'])
    await serve({ groups: ['vip'] })
    expect(await names(user)).toEqual(['azure/gpt-4o'])
    expect(await names(await app.person({ group: 'vip' }))).toEqual(['azure/gpt-4o', 'gpt-4o'])
  })
})

describe('the models of a user', () => {
  it('are those of all groups open to them', async () => {
    await serve({ models: ['gpt-4o'], groups: ['default'] })
    await serve({ models: ['o1', 'gpt-4o'], groups: ['vip'] })
    await serve({ models: ['o3'], groups: ['inner'] })
    const models = async (person: Person) => (await app.trpc(person)).user.models.list()
    expect(await models(user)).toEqual(['gpt-4o', 'o1'])
    expect(await models(await app.person({ group: 'inner' }))).toEqual(['gpt-4o', 'o1', 'o3'])
    await serve({ models: ['o1'], modelPrefix: 'p/', groups: ['default'] })
    expect(await models(user)).toEqual(['gpt-4o', 'o1', 'p/o1'])
    expect(await codeOf((await app.trpc(null)).user.models.list())).toBe('session.required')
  })

  it('take the parameters of the model that their name leads to', async () => {
    await serve({ models: ['thinker'], modelMapping: '{"thinker":"gpt-5"}', modelPrefix: 'q/', groups: ['vip'] })
    const parameters = async (model: string) => (await app.trpc(user)).user.models.parameters({ model })
    expect(await parameters('q/thinker')).toMatchObject({
      sampling: 'none',
      efforts: ['minimal', 'low', 'medium', 'high'],
    })
    expect(await parameters('house-model')).toMatchObject({ sampling: 'both', efforts: [] })
    expect(await codeOf((await app.trpc(null)).user.models.parameters({ model: 'o1' }))).toBe('session.required')
  })

  it('are what the operator says of their name or of a family, else what the tables and the catalogue know', async () => {
    const parameters = async (model: string) => (await app.trpc(user)).user.models.parameters({ model })
    expect(await parameters('gpt-4o')).toMatchObject({ context: 128_000, maxOutput: 16_384, images: true })
    expect(await parameters('house-model')).toMatchObject({ context: null, maxOutput: null, images: true })
    await serve({ models: ['alias'], modelMapping: '{"alias":"gpt-4o"}', groups: ['vip'] })
    const table = {
      'house-*': { images: false, context: 32_000 },
      'house-model': { context: 64_000 },
      alias: { tools: false },
    }
    await app.setOptions({ ModelCapabilities: JSON.stringify(table) })
    expect(await parameters('House-Model')).toMatchObject({ context: 64_000, images: false, tools: true })
    expect(await parameters('alias')).toMatchObject({ context: 128_000, tools: false, images: true })
    expect(await parameters('other')).toMatchObject({ context: null, images: true })
  })

  it('begin with those the product knows, by channel type', async () => {
    const builtIn = await (await app.trpc(user)).user.models.builtIn()
    expect(builtIn.find(({ type }) => type === 1)?.models).toContain('gpt-4o')
    expect(builtIn.find(({ type }) => type === 28)).toBeUndefined()
  })
})

describe('models under administration', () => {
  it('come with their price and their channels, the first of them by name', async () => {
    const one = await serve({ models: ['gpt-4o', 'house-model'], groups: ['vip'] })
    const two = await serve({ name: 'two' })
    await (await app.trpc(admin)).admin.channels.disable({ id: two.id })
    const many = await Promise.all(Array.from({ length: 21 }, () => serve({ models: ['house-model'] })))
    const { channels, rows } = await (await app.trpc(admin)).admin.prices.list()
    expect(channels.slice(0, 2)).toEqual([
      { id: one.id, name: 'one', status: 1 },
      { id: two.id, name: 'two', status: 2 },
    ])
    const row = (name: string) => rows.find(({ model }) => model === name)
    expect(row('gpt-4o')).toMatchObject({ price: { modelRatio: 1.25 }, channels: [0, 1], channelCount: 2 })
    expect(row('house-model')).toMatchObject({ price: null, isMissing: true, channelCount: 1 + many.length })
    expect(row('house-model')?.channels).toHaveLength(20)
    expect(await codeOf((await app.trpc(user)).admin.prices.list())).toBe('session.role_insufficient')
  })

  it('are named where no table prices them, even while they may be called', async () => {
    await serve({ models: ['gpt-4o', 'house-model'] })
    await serve({ type: 2, models: ['mj_imagine'] })
    const { admin: under } = await app.trpc(admin)
    const models = ['gpt-4o', 'house-model', 'other']
    const written = { type: 1, models, modelMapping: '{"other":"gpt-4o"}' }
    expect(await under.models.unpriced(written)).toEqual(['house-model'])
    await app.setOptions({ SelfUseModeEnabled: 'true' })
    expect(await under.models.unset()).toEqual(['house-model'])
    // Whoever calls alone needs no prices.
    expect(await under.models.unpriced(written)).toEqual([])
  })

  it('find list prices in the catalogue', async () => {
    const found = await (await app.trpc(admin)).admin.models.catalogPrices({ models: ['gpt-4o', 'house-model'] })
    expect(found).toMatchObject([
      { model: 'gpt-4o', price: { modelRatio: 1.25, completionRatio: 4 } },
      { model: 'house-model', price: null },
    ])
  })

  it('say the ratio of a list price that the site charges as that price', async () => {
    await app.setOptions({ QuotaPerUnit: '1000000' })
    const found = await (await app.trpc(admin)).admin.models.catalogPrices({ models: ['gpt-4o'] })
    expect(found).toMatchObject([{ price: { modelRatio: 2.5, completionRatio: 4 } }])
  })
})

describe('setting prices', () => {
  const setPrices = async (prices: RouterInputs['admin']['models']['setPrices']['prices'], person = root) =>
    (await app.trpc(person)).admin.models.setPrices({ prices })
  const table = (key: 'ModelPrice' | 'ModelRatio' | 'CompletionRatio' | 'CacheRatio') => app.services.options.get(key)

  it('leaves the prices of all other models alone', async () => {
    const before = Object.keys(table('ModelRatio')).length
    await setPrices([{ model: 'house-model', modelRatio: 2, completionRatio: 3, cacheRatio: 0.1 }])
    expect(Object.keys(table('ModelRatio'))).toHaveLength(before + 1)
    expect([table('ModelRatio')['house-model'], table('CompletionRatio')['house-model']]).toEqual([2, 3])
    expect(table('CacheRatio')['house-model']).toBe(0.1)
  })

  it('takes a price away from every table, and leaves the prices of all other models alone', async () => {
    await setPrices([{ model: 'house-model', modelRatio: 2, completionRatio: 3, cacheRatio: 0.1 }])
    const before = Object.keys(table('ModelRatio')).length
    await setPrices([{ model: 'house-model', removed: true }])
    expect(Object.keys(table('ModelRatio'))).toHaveLength(before - 1)
    const keys = ['ModelPrice', 'ModelRatio', 'CompletionRatio', 'CacheRatio'] as const
    expect(keys.map((key) => table(key)['house-model'])).toEqual([undefined, undefined, undefined, undefined])
  })

  it('takes away a further ratio that is said to be none, alone', async () => {
    const keys = ['ModelRatio', 'CompletionRatio', 'CacheRatio', 'CreateCacheRatio'] as const
    const stored = () => keys.map((key) => app.services.options.get(key)['house-model'])
    await setPrices([
      { model: 'house-model', modelRatio: 2, completionRatio: 3, cacheRatio: 0.1, cacheWriteRatio: 1.5 },
    ])
    await setPrices([{ model: 'house-model', modelRatio: 2, completionRatio: null }])
    expect(stored()).toEqual([2, undefined, 0.1, 1.5])
    await setPrices([{ model: 'house-model', modelRatio: 2, completionRatio: 4, cacheRatio: null }])
    expect(stored()).toEqual([2, 4, undefined, 1.5])
    await setPrices([{ model: 'house-model', modelRatio: 2, cacheWriteRatio: null }])
    expect(stored()).toEqual([2, 4, undefined, undefined])
  })

  it('lets a price per call and ratios exclude each other', async () => {
    await setPrices([{ model: 'house-model', modelRatio: 2, completionRatio: 3 }])
    await setPrices([{ model: 'house-model', modelPrice: 0.5 }])
    expect([table('ModelPrice')['house-model'], table('ModelRatio')['house-model']]).toEqual([0.5, undefined])
    expect(table('CompletionRatio')['house-model']).toBeUndefined()
    await setPrices([{ model: 'house-model', modelRatio: 0 }])
    expect([table('ModelPrice')['house-model'], table('ModelRatio')['house-model']]).toEqual([undefined, 0])
  })

  it('keeps all of many prices set at once', async () => {
    const models = Array.from({ length: 12 }, (_, index) => `house-${index}`)
    await Promise.all(models.map((model, index) => setPrices([{ model, modelRatio: index + 1 }])))
    await app.services.options.reload()
    expect(models.map((model) => table('ModelRatio')[model])).toEqual(models.map((_, index) => index + 1))
  })

  it('refuses a price that somebody else has changed since it was read, and saves it from there', async () => {
    const rows = async () => (await (await app.trpc(root)).admin.prices.list()).rows
    const entries = async () => (await rows()).find(({ model }) => model === 'gpt-4o')?.entries ?? ''
    const began = await entries()
    const set = async (modelRatio: number, expected: string) =>
      (await app.trpc(root)).admin.models.setPrices({
        prices: [{ model: 'gpt-4o', modelRatio }],
        expected: { 'gpt-4o': expected },
      })
    const results = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => set(index + 3, began)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await codeOf(set(9, began))).toBe('prices.changed_meanwhile')
    // Another model's price is no hindrance.
    await setPrices([{ model: 'house-model', modelRatio: 1 }])
    await set(9, await entries())
    expect(table('ModelRatio')['gpt-4o']).toBe(9)
  })

  it('and a form with whole tables do not overwrite each other, whichever comes first', async () => {
    for (let round = 0; round < 8; round += 1) {
      const before = { ...table('ModelRatio') }
      const [, form] = await Promise.all([
        setPrices([{ model: `typed-${round}`, modelRatio: 2 }]),
        (await app.trpc(root)).admin.options.save({
          changes: [{ key: 'ModelRatio', value: { ...before, [`form-${round}`]: 3 }, expected: before }],
        }),
      ])
      const after = table('ModelRatio')
      expect([after[`typed-${round}`], after[`form-${round}`]]).toEqual([2, form.saved.length === 1 ? 3 : undefined])
    }
  })

  it('refuses buying prices that somebody else has changed since they were read', async () => {
    const { id: channelId } = await serve({})
    const priceOf = (input: number) => ({ model: '', from: 1, terms: { kind: 'tokens', input, output: 0 } as const })
    const set = async (input: number, expected: ReturnType<typeof priceOf>[]) =>
      (await app.trpc(admin)).admin.prices.setBuying({ channelId, prices: [priceOf(input)], expected })
    const stored = async () => (await app.trpc(admin)).admin.prices.buying({ channelId })
    const results = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => set(index + 1, [])))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const [winner] = await stored()
    expect(await codeOf(set(99, []))).toBe('prices.buying_changed_meanwhile')
    expect(await stored()).toEqual([winner])
    await set(99, winner ? [winner as ReturnType<typeof priceOf>] : [])
    expect(await stored()).toEqual([priceOf(99)])
  })

  it('is for root alone, and takes one kind of price at a time', async () => {
    const price = { model: 'house-model', modelRatio: 1 }
    expect(await codeOf(setPrices([price], admin))).toBe('session.role_insufficient')
    expect(await codeOf(setPrices([{ ...price, modelPrice: 1 }] as never))).toBe('BAD_REQUEST')
    expect(await codeOf(setPrices([{ model: 'house-model', modelRatio: -1 }]))).toBe('BAD_REQUEST')
    expect(await codeOf(setPrices([]))).toBe('BAD_REQUEST')
    await setPrices([{ model: '__proto__', modelRatio: 1 }])
    expect(({} as Record<string, unknown>)['modelRatio']).toBeUndefined()
    expect(await app.sql(`select key from options where key like 'Model%' order by key`)).toHaveLength(2)
  })
})
