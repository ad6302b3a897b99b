import pg from 'pg'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RouterInputs } from '#server/app-router.ts'
import { disableAutomatically } from '#features/channels/service/automatic.ts'
import { codeOf, startFileConsole } from '#test/support/console-app.ts'
import { expectIndexInOrder } from './channel-index.ts'
import { holdLock } from '#test/support/held-lock.ts'

// What the product asks the database for, over connections that are opened from here on.
const asked = vi.spyOn(pg.Client.prototype, 'query')
afterAll(() => asked.mockRestore())
const app = await startFileConsole()
const admin = await app.person({ role: 10 })
beforeEach(async () => {
  await app.sql('truncate channels, channel_keys, abilities, channel_probes')
})

const asAdmin = async () => (await app.trpc(admin)).admin.channels

type Input = Partial<RouterInputs['admin']['channels']['create']>

const create = async (wanted: Input = {}) =>
  (await asAdmin()).create({ name: 'one', type: 1, key: 'sk-aaaaaaaa', models: ['gpt-4o', 'gpt-4o-mini'], ...wanted })

describe('switching channels', () => {
  it('moves the index along and clears why it was switched off', async () => {
    const { id } = await create()
    const channels = await asAdmin()
    expect(await channels.disable({ id })).toMatchObject({ status: 2 })
    await expectIndexInOrder(app)
    await app.sql(`update channels set status = 3, status_reason = 'bad key', status_at = now()`)
    expect(await channels.enable({ id })).toMatchObject({ status: 1, statusReason: '', statusAt: null })
    await expectIndexInOrder(app)
    expect(await codeOf(channels.disable({ id: id + 1 }))).toBe('channel.not_found')
  })

  it('goes for many at once, and taking it back leaves credentials that went off by themselves as they are', async () => {
    const one = await create({ key: 'sk-aaaaaaaa,sk-bbbbbbbb' })
    const two = await create()
    const channels = await asAdmin()
    await app.sql('update channel_keys set status = 3 where channel_id = $1 and position = 1', [one.id])
    expect(await channels.setStatusOfMany({ ids: [one.id, two.id], status: 2 })).toEqual({ count: 2 })
    expect(await app.sql('select distinct status from channels')).toEqual([{ status: 2 }])
    await expectIndexInOrder(app)
    await channels.setStatus({ id: one.id, status: 1, keepKeys: true })
    expect((await channels.get({ id: one.id })).keys.map(({ status }) => status)).toEqual([1, 3])
    await channels.setStatus({ id: one.id, status: 1 })
    expect((await channels.get({ id: one.id })).keys.map(({ status }) => status)).toEqual([1, 1])
    expect(await codeOf(channels.setStatusOfMany({ ids: [], status: 2 }))).toBe('channel.selection_empty')
  })

  it('takes out the key that failed, and the channel with its last one', async () => {
    const { id } = await create({ key: 'sk-aaaaaaaa,sk-bbbbbbbb' })
    const fail = (key: string) =>
      disableAutomatically({ ...app.services, em: app.em() }, { channelId: id, key, reason: 'invalid api key' })
    expect(await fail('sk-unknown')).toBe('nothing')
    expect(await Promise.all([fail('sk-aaaaaaaa'), fail('sk-aaaaaaaa')])).toEqual(
      expect.arrayContaining(['key', 'nothing']),
    )
    const channels = await asAdmin()
    expect((await channels.get({ id })).status).toBe(1)
    expect(await fail('sk-bbbbbbbb')).toBe('channel')
    expect(await channels.get({ id })).toMatchObject({ status: 3, statusReason: 'invalid api key' })
    await expectIndexInOrder(app)
    await channels.enable({ id })
    expect((await channels.get({ id })).keys.map(({ status }) => status)).toEqual([1, 1])
  })
})

describe('finding channels', () => {
  it('pages by priority or by number', async () => {
    const low = await create({ name: 'low', priority: 1 })
    const high = await create({ name: 'high', priority: 9 })
    const late = await create({ name: 'late', priority: 1 })
    const channels = await asAdmin()
    const ids = async (input: RouterInputs['admin']['channels']['list']) =>
      (await channels.list(input)).items.map(({ id }) => id)
    expect(await ids({})).toEqual([high.id, late.id, low.id])
    expect(await ids({ sort: 'id' })).toEqual([late.id, high.id, low.id])
    expect(await channels.list({ page: 2, pageSize: 2 })).toMatchObject({ total: 3, items: [{ id: low.id }] })
  })

  it('narrows by every filter, and treats wildcards of the database as letters', async () => {
    await create({ name: 'alpha_1', tag: 'eu', groups: ['vip', 'default'], models: ['gpt-4o'], key: 'sk-aaaaaaaa' })
    await create({ name: 'beta', type: 14, models: ['claude-3-5-haiku'], key: 'sk-bbbbbbbb,sk-cccccccc' })
    await create({ name: '100%', groups: ['svip'] })
    const channels = await asAdmin()
    await channels.disable({ id: (await channels.search({ keyword: 'beta' }))[0]?.id ?? 0 })
    const names = async (filters: RouterInputs['admin']['channels']['search']) =>
      (await channels.search({ sort: 'id', ascending: true, ...filters })).map(({ name }) => name)
    expect(await names({ keyword: 'ALPHA' })).toEqual(['alpha_1'])
    expect(await names({ keyword: '_' })).toEqual(['alpha_1'])
    expect(await names({ keyword: '%' })).toEqual(['100%'])
    expect(await names({ keyword: '%%%%' })).toEqual([])
    expect(await names({ keyword: '\\' })).toEqual([])
    expect(await names({ keyword: 'sk-cccccccc' })).toEqual(['beta'])
    expect(await names({ keyword: 'sk-bbbbbbbb\nsk-cccccccc' })).toEqual(['beta'])
    expect(await names({ keyword: 'sk-ccccccc' })).toEqual([])
    expect(await names({ group: 'vip' })).toEqual(['alpha_1'])
    expect(await names({ model: 'haiku' })).toEqual(['beta'])
    expect(await names({ types: [14, 15] })).toEqual(['beta'])
    expect(await names({ statuses: [2, 3] })).toEqual(['beta'])
    expect(await names({ tags: ['eu'] })).toEqual(['alpha_1'])
    expect(await names({ types: [1], statuses: [1], group: 'default' })).toEqual(['alpha_1'])
    expect(await names({ keyword: "'; drop table channels; --" })).toEqual([])
    expect((await channels.matching({ types: [1], group: 'default' })).map(({ name }) => name)).toEqual(['alpha_1'])
    expect(await channels.matching({ keyword: '%%%%' })).toEqual([])
  })

  it('shows the newest probes of each, and channels that were never probed with none', async () => {
    const [probed, idle] = [await create(), await create()]
    for (const message of ['first', 'second', 'third'])
      await app.sql(
        `insert into channel_probes (channel_id, model, success, message, duration_ms) values ($1, 'gpt-4o', false, $2, 7)`,
        [probed.id, message],
      )
    const { admin: under } = await app.trpc(admin)
    const health = await under.channels.health({ ids: [probed.id, idle.id], limit: 2 })
    expect(health).toMatchObject([
      { channelId: probed.id, probes: [{ message: 'third', durationMs: 7 }, { message: 'second' }] },
      { channelId: idle.id, probes: [] },
    ])
    expect(health[0]?.probes).toHaveLength(2)
  })

  it('says which channels have models that nobody has priced', async () => {
    const priced = await create()
    const house = await create({ models: ['gpt-4o', 'house-a', 'house-b'] })
    const ids = [priced.id, house.id]
    const { admin: under } = await app.trpc(admin)
    expect(await under.channels.unpriced({ ids })).toEqual([{ channelId: house.id, models: ['house-a', 'house-b'] }])
  })

  it('folds tags: pages count them and show all of their channels', async () => {
    await create({ name: 'a1', tag: 'a' })
    await create({ name: 'a2', tag: 'a', models: ['o1'] })
    await create({ name: 'b1', tag: 'b' })
    await create({ name: 'loose' })
    const channels = await asAdmin()
    const page = await channels.list({ tagMode: true, pageSize: 1 })
    expect([page.total, page.items.map(({ name }) => name).toSorted()]).toEqual([2, ['a1', 'a2']])
    const found = await channels.search({ tagMode: true, model: 'o1' })
    expect(found.map(({ name }) => name).toSorted()).toEqual(['a1', 'a2'])
    expect(await channels.tags.list({})).toEqual(['a', 'b'])
    expect(await channels.tags.list({ offset: 1, limit: 1 })).toEqual(['b'])
  })
})

describe('many channels at once', () => {
  it('are edited, switched and taken apart by their tag', async () => {
    const one = await create({ tag: 'a', models: ['m1'] })
    await create({ tag: 'a', models: ['m2'], priority: 4 })
    await create({ tag: 'b' })
    const channels = await asAdmin()
    const { tags } = channels
    expect(await tags.edit({ tag: 'a', priority: 7, groups: ['vip'] })).toEqual({ count: 2 })
    expect((await channels.get({ id: one.id })).models).toEqual(['m1'])
    expect(await tags.disable({ tag: 'a' })).toEqual({ count: 2 })
    await expectIndexInOrder(app)
    expect(await tags.enable({ tag: 'a' })).toEqual({ count: 2 })
    expect(await tags.edit({ tag: 'a', newTag: '' })).toEqual({ count: 2 })
    expect(await tags.list({})).toEqual(['b'])
    await expectIndexInOrder(app)
    expect(await codeOf(tags.edit({ tag: '', priority: 1 }))).toBe('channel.tag_required')
    expect(await codeOf(tags.edit({ tag: 'b' }))).toBe('channel.tag_unchanged')
    expect(await codeOf(tags.edit({ tag: 'b', modelMapping: '[' }))).toBe('channel.model_mapping_invalid')
  })

  it('are tagged and removed by their numbers, with all that belongs to them', async () => {
    const [one, two, three] = [await create(), await create(), await create()]
    const channels = await asAdmin()
    expect(await channels.setTag({ ids: [one.id, two.id], tag: 'x' })).toEqual({ count: 2 })
    await channels.disable({ id: three.id })
    expect(await channels.removeDisabled()).toEqual({ count: 1 })
    await channels.remove({ id: one.id })
    expect(await channels.removeMany({ ids: [two.id, 999] })).toEqual({ count: 1 })
    expect(await app.sql('select 1 from channel_keys union all select 1 from abilities')).toEqual([])
    expect(await codeOf(channels.remove({ id: one.id }))).toBe('channel.not_found')
    expect(await codeOf(channels.removeMany({ ids: [] }))).toBe('channel.selection_empty')
    expect(await codeOf(channels.setTag({ ids: [], tag: 'x' }))).toBe('channel.selection_empty')
  })

  it('are held in portions: who waits for one of thousands does not keep the others', async () => {
    await app.sql(
      `insert into channels (name, type, models, key_encrypted, key_hmac) select 'c' || n, 1, 'm1,m2', '', 'h' || n from generate_series(1, 450) n`,
    )
    const channels = await asAdmin()
    await channels.fixAbilities()
    const ids = (await channels.matching({})).map(({ id }) => id).toSorted((one, other) => one - other)
    const { pool } = app.services.database
    await using unlock = await holdLock(pool, 'select 1 from channels where id = $1 for update', [ids.at(-1)])
    const switched = channels.setStatusOfMany({ ids, status: 2 })
    const done = async () => (await app.sql('select 1 from channels where status = 2')).length
    await expect.poll(done).toBe(400)
    await unlock()
    expect(await switched).toEqual({ count: 450 })
    await expectIndexInOrder(app)
    expect(await channels.removeDisabled()).toEqual({ count: 450 })
    expect(await app.sql('select 1 from abilities')).toEqual([])
  })

  it('have their index repaired', async () => {
    const { id } = await create()
    await app.sql(`delete from abilities where model = 'gpt-4o'`)
    await app.sql(
      `insert into abilities ("group", model, channel_id) values ('default', 'ghost', 4711), ('x', 'y', $1)`,
      [id],
    )
    expect(await (await asAdmin()).fixAbilities()).toEqual({ count: 1 })
    await expectIndexInOrder(app)
    expect(await (await asAdmin()).modelsEnabled()).toEqual(['gpt-4o', 'gpt-4o-mini'])
  })
})

describe('ten thousand channels of a hundred models', () => {
  const isTimed = process.env['STRICT_TIMES'] === '1'
  const count = 10_000
  type Plan = Record<string, number> & { Plans?: Plan[] }
  /** Rows that a step of a plan gave or left out, with those of the steps below it. */
  const rowsOf = (plan: Plan): number =>
    ((plan['Actual Rows'] ?? 0) + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Join Filter'] ?? 0)) *
      (plan['Actual Loops'] ?? 0) +
    (plan.Plans ?? []).reduce((sum, below) => sum + rowsOf(below), 0)
  /** How many rows the database handles for what is asked of it meanwhile. */
  const rowsHandled = async (act: () => Promise<unknown>): Promise<number> => {
    asked.mockClear()
    await act()
    const statements = asked.mock.calls
      .map(([given]) => (given as { text?: string }).text ?? String(given))
      .filter((text) => /^select .*"channels"/s.test(text))
    expect(statements).not.toEqual([])
    let rows = 0
    for (const statement of statements) {
      const answer = await app.sql(`explain (analyze, format json) ${statement}`)
      const plans = answer.flatMap((row) => row['QUERY PLAN'] as { Plan: Plan }[])
      rows += plans.reduce((sum, plan) => sum + rowsOf(plan.Plan), 0)
    }
    return rows
  }

  it('are filtered, ordered, folded and paged within fifty milliseconds each', async () => {
    await app.sql(
      `insert into channels (name, type, status, "group", models, tag, key_encrypted, key_hmac, priority)
       select 'channel ' || n, 1 + n % 50, 1 + n % 3, case when n % 7 = 0 then 'vip,default' else 'default' end,
         (select string_agg('model-' || ((n * 31 + m) % 900), ',') from generate_series(1, 100) m),
         case when n % 2 = 0 then 'tag-' || n % 40 else '' end, '', 'h' || n, n % 5
       from generate_series(1, $1::int) n`,
      [count],
    )
    await app.sql('analyze channels')
    const channels = await asAdmin()
    const questions: Record<string, RouterInputs['admin']['channels']['list']> = {
      everything: {},
      'a part of the name': { keyword: '999' },
      'a number': { keyword: '4321' },
      'a whole key': { keyword: 'sk-nobody-has-this-one' },
      'a model': { model: 'model-77' },
      'a model of none': { model: 'no such model' },
      'a group': { group: 'vip' },
      types: { types: [3, 14, 24] },
      statuses: { statuses: [3] },
      tags: { tags: ['tag-2', 'tag-8'] },
      'all of it': {
        keyword: 'channel',
        model: 'model-7',
        group: 'vip',
        types: [8],
        statuses: [1, 2],
        tags: ['tag-6'],
      },
      'by number': { sort: 'id' },
      'the last page': { page: 100, pageSize: 100 },
      'folded by tag': { tagMode: true, tags: ['tag-2'] },
    }
    for (const [name, question] of Object.entries(questions)) {
      const rows = await rowsHandled(() => channels.list(question))
      process.stdout.write(`channels by ${name}: ${rows} rows\n`)
      // Whatever is asked, each channel is looked at some times, and never once for every other one.
      expect([name, rows > 0, rows <= 10 * count]).toEqual([name, true, true])
      if (!isTimed) continue
      const times: number[] = []
      for (let round = 0; round < 5; round += 1) {
        const startedAt = performance.now()
        await channels.list(question)
        times.push(performance.now() - startedAt)
      }
      expect([name, Math.min(...times) <= 50]).toEqual([name, true])
    }
    expect(await channels.list({ model: 'no such model' })).toMatchObject({ total: 0 })
    expect(await channels.matching({ statuses: [1, 2, 3] })).toHaveLength(count)
    const tagged = (await channels.matching({ tags: ['tag-2'] })).map(({ id }) => id)
    expect(await channels.setTag({ ids: tagged, tag: 'moved' })).toEqual({ count: 250 })
    expect((await channels.list({ tags: ['moved'] })).total).toBe(250)
  })
})
