import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createTransport } from '#relay/transport/send.ts'
import { startUpstream } from '#test/simulator/index.ts'
import { startConsole } from '#test/support/console-app.ts'

const app = await startConsole()
app.services.transport = createTransport()
const upstream = await startUpstream()
const root = await app.signedIn(await app.person({ role: 100 }))
const admin = await app.signedIn(await app.person({ role: 10 }))
const user = await app.signedIn(await app.person())
afterAll(async () => {
  await app.services.transport.close()
  await upstream.close()
  await app[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await app.sql('truncate channels, channel_keys, abilities, channel_probes, logs restart identity')
})

const body = { name: 'one', type: 1, key: 'sk-first\nsk-second', models: 'gpt-4o, gpt-4o-mini', group: 'default,vip' }
const create = async (fields: Record<string, unknown> = {}) => {
  const reply = await admin.post('/api/channel/', { ...body, ...fields })
  expect(reply.body).toEqual({ success: true, message: '' })
  const [row] = await app.sql('select max(id) as id from channels')
  return Number(row?.['id'])
}
const rows = async (path: string, query: Record<string, string> = {}) =>
  (await admin.get(path, { query })).data as Record<string, unknown>[]
const namesOf = async (path: string, query: Record<string, string> = {}) =>
  (await rows(path, query)).map((row) => row['name'])

describe('a channel on the wire', () => {
  it('has exactly the documented fields', async () => {
    const id = await create({
      base_url: 'https://up.example/',
      groups: ['ignored'],
      id: 999,
      created_time: null,
      used_quota: 5,
      tag: null,
    })
    const reply = await root.get(`/api/channel/${id}`)
    expect(reply.data).toEqual({
      id,
      type: 1,
      key: 'sk-first,sk-second',
      name: 'one',
      status: 1,
      openai_organization: '',
      test_model: '',
      max_input_tokens: 0,
      base_url: 'https://up.example',
      other: '',
      models: 'gpt-4o,gpt-4o-mini',
      group: 'default,vip',
      model_prefix: '',
      tag: '',
      model_mapping: '',
      status_code_mapping: '',
      setting: '',
      param_override: '',
      system_prompt: '',
      priority: 0,
      weight: 0,
      auto_ban: 1,
      created_time: expect.any(Number) as number,
      test_time: 0,
      response_time: 0,
      balance: 0,
      balance_currency: null,
      balance_updated_time: 0,
      used_quota: 0,
      other_info: '',
    })
    const { created_time: createdTime } = reply.data as { created_time: number }
    expect(Math.abs(createdTime - Date.now() / 1000)).toBeLessThan(100)
    expect((await admin.get(`/api/channel/${id}/`)).data).toMatchObject({ id, key: '' })
  })

  it('shows why it was switched off', async () => {
    const id = await create()
    await app.sql(`update channels set status = 3, status_reason = 'bad key', status_at = to_timestamp(1700000000)`)
    const [row] = await rows('/api/channel/')
    expect(row).toMatchObject({ id, status: 3, key: '' })
    expect(JSON.parse(String(row?.['other_info']))).toEqual({ status_reason: 'bad key', status_time: 1_700_000_000 })
  })

  it('is created in the state that is sent, and else switched on', async () => {
    for (const [sent, stored] of [
      [{}, 1],
      [{ status: 0 }, 1],
      [{ status: 1 }, 1],
      [{ status: 2 }, 2],
      [{ status: '2' }, 2],
      [{ status: 3 }, 3],
    ] as const) {
      const id = await create(sent)
      expect((await admin.get(`/api/channel/${id}`)).data).toMatchObject({ status: stored })
      expect(await app.sql('select distinct enabled from abilities where channel_id = $1', [id])).toEqual([
        { enabled: stored === 1 },
      ])
    }
    expect((await admin.post('/api/channel/', { ...body, status: 4 })).body).toMatchObject({ success: false })
  })

  it('is not shown to users', async () => {
    const reply = await user.get('/api/channel/')
    expect([reply.status, reply.body['success']]).toEqual([200, false])
    expect((await app.browser().get('/api/channel/')).status).toBe(401)
  })
})

describe('changing a channel', () => {
  it('leaves what is absent, and plain texts sent empty, as they are', async () => {
    const id = await create({ tag: 't', test_model: 'gpt-4o', other: 'x', priority: 3 })
    const reply = await admin.put('/api/channel/', {
      id,
      name: '',
      key: '',
      models: '',
      group: '',
      other: '',
      tag: '',
      priority: 0,
      auto_ban: 0,
      weight: -5,
      groups: [],
      timestamp2string: 'x',
    })
    expect(reply.body).toMatchObject({ success: true, message: '' })
    expect(reply.data).toMatchObject({
      id,
      name: 'one',
      key: '',
      models: 'gpt-4o,gpt-4o-mini',
      group: 'default,vip',
      other: 'x',
      tag: '',
      test_model: 'gpt-4o',
      priority: 0,
      auto_ban: 0,
      weight: 0,
      status: 1,
    })
    expect((await root.get(`/api/channel/${id}`)).data).toMatchObject({ key: 'sk-first,sk-second' })
  })

  it('takes the quick edits of a table and answers with the whole row', async () => {
    const id = await create()
    expect((await admin.put('/api/channel/', { id, status: 2 })).data).toMatchObject({ id, status: 2, name: 'one' })
    expect((await admin.put('/api/channel/', { id, priority: '7' })).data).toMatchObject({ priority: 7, status: 2 })
    expect((await admin.put('/api/channel/', { id, models: 'o1' })).data).toMatchObject({ models: 'o1', priority: 7 })
  })

  it('refuses another address with the stored key, and broken fields, with status 200', async () => {
    const id = await create({ base_url: 'https://up.example' })
    const refused = async (fields: Record<string, unknown>) => {
      const reply = await admin.put('/api/channel/', { id, ...fields })
      expect([reply.status, reply.body['success']]).toEqual([200, false])
      return reply.body['message']
    }
    expect(await refused({ base_url: 'https://evil.example', key: '' })).toBe('修改接口地址或类型时需要重新填写密钥')
    expect(await refused({ model_mapping: '{' })).toBe('模型映射必须是合法的 JSON格式！')
    expect(await refused({ id: 'x' })).toMatch(/id/)
    expect((await admin.post('/api/channel/', { ...body, type: 41, key: 'AIza' })).body['message']).toBe(
      '请填写部署地区',
    )
    expect((await admin.post('/api/channel/', { ...body, models: 'a'.repeat(256) })).body['message']).toMatch(
      /模型名过长/,
    )
  })
})

describe('lists of channels', () => {
  it('are bare arrays of pages that begin at 0', async () => {
    for (let index = 0; index < 12; index += 1) await create({ name: `c${index}`, priority: index % 2 })
    expect(await namesOf('/api/channel/', { p: '0' })).toHaveLength(10)
    expect(await namesOf('/api/channel/', { p: '1', page_size: '10' })).toEqual(['c2', 'c0'])
    expect(await namesOf('/api/channel/', { id_sort: 'true', page_size: '2' })).toEqual(['c11', 'c10'])
    expect(await namesOf('/api/channel/', { p: '9' })).toEqual([])
    expect(await namesOf('/api/channel/', { p: 'NaN', page_size: '1000000000' })).toHaveLength(12)
  })

  it('fold tags into all of their channels', async () => {
    await create({ name: 'a1', tag: 'a' })
    await create({ name: 'loose' })
    await create({ name: 'a2', tag: 'a' })
    expect((await namesOf('/api/channel/', { tag_mode: 'true', page_size: '1' })).toSorted()).toEqual(['a1', 'a2'])
    expect(await rows('/api/channel/tags')).toEqual(['a'])
  })

  it('are searched by keyword, key and every filter', async () => {
    const first = await create({ name: 'alpha', tag: 'eu' })
    await create({ name: 'beta', type: 14, key: 'sk-beta', models: 'claude-3-5-haiku', group: 'svip' })
    const found = (query: Record<string, string>) => namesOf('/api/channel/search', { id_sort: 'true', ...query })
    expect(await found({ keyword: '', group: 'null', model: '' })).toEqual(['beta', 'alpha'])
    expect(await found({ keyword: String(first) })).toEqual(['alpha'])
    expect(await found({ keyword: 'sk-second' })).toEqual(['alpha'])
    expect(await found({ group: 'svip' })).toEqual(['beta'])
    expect(await found({ model: 'haiku' })).toEqual(['beta'])
    expect(await found({ types: '14,15', statuses: '1,2' })).toEqual(['beta'])
    expect(await found({ statuses: '2' })).toEqual([])
    expect(await found({ tags: 'eu,us', tag_mode: 'true' })).toEqual(['alpha'])
    expect(JSON.stringify(await rows('/api/channel/search'))).not.toContain('sk-')
  })
})

describe('acts on many channels', () => {
  it('answer with how many there were', async () => {
    const ids = [await create({ tag: 'a' }), await create({ tag: 'a' }), await create()]
    expect((await admin.post('/api/channel/batch/tag', { ids: ids.slice(1), tag: 'b' })).data).toBe(2)
    expect((await admin.post('/api/channel/batch/tag', { ids: [ids[1]], tag: null })).data).toBe(1)
    expect((await admin.post('/api/channel/fix')).data).toBe(3)
    expect((await admin.post('/api/channel/tag/disabled', { tag: 'b' })).body).toEqual({ success: true, message: '' })
    expect((await admin.delete('/api/channel/disabled')).data).toBe(1)
    expect((await admin.delete(`/api/channel/${ids[0]}/`)).body).toEqual({ success: true, message: '' })
    expect((await admin.post('/api/channel/batch', { ids: [ids[1], 999] })).data).toBe(2)
    expect((await admin.post('/api/channel/batch', { ids: [] })).body['success']).toBe(false)
    expect(await rows('/api/channel/')).toEqual([])
  })

  it('edit a tag, where blank leaves and an empty new tag dissolves', async () => {
    await create({ tag: 'a' })
    const edit = (fields: object) => admin.put('/api/channel/tag', { tag: 'a', ...fields })
    await edit({ new_tag: null, models: '', groups: 'vip', model_mapping: '', priority: 4, weight: -1 })
    expect(await rows('/api/channel/')).toMatchObject([
      { tag: 'a', group: 'vip', models: 'gpt-4o,gpt-4o-mini', priority: 4, weight: 0 },
    ])
    await admin.post('/api/channel/tag/enabled', { tag: 'a' })
    expect((await edit({ new_tag: '' })).body).toEqual({ success: true, message: '' })
    expect(await rows('/api/channel/tags')).toEqual([])
    expect((await admin.put('/api/channel/tag', { tag: '' })).body['success']).toBe(false)
  })
})

describe('models of channels', () => {
  it('are listed as the OpenAI interface lists them', async () => {
    const models = (await rows('/api/channel/models')) as { id: string }[]
    expect(models.find(({ id }) => id === 'gpt-4o')).toEqual({
      id: 'gpt-4o',
      object: 'model',
      created: 1_626_777_600,
      owned_by: 'openai',
      permission: [expect.objectContaining({ object: 'model_permission', is_blocking: false })],
      root: 'gpt-4o',
      parent: null,
    })
    await create()
    expect(await rows('/api/channel/models_enabled')).toEqual(['gpt-4o', 'gpt-4o-mini'])
  })

  it('are fetched from upstream, with status 500 only where the document has it', async () => {
    const id = await create({ base_url: upstream.url })
    const stored = await admin.get(`/api/channel/fetch_models/${id}`)
    expect(stored.body['success']).toBe(true)
    expect(stored.data).toContain('gpt-4o-mini')
    const given = { base_url: upstream.url, type: 1, key: 'sk-a\nsk-b' }
    expect((await admin.post('/api/channel/fetch_models', given)).data).toEqual(stored.data)
    const closed = 'http://127.0.0.1:9'
    expect((await admin.post('/api/channel/fetch_models', { ...given, base_url: closed })).status).toBe(500)
    await admin.put('/api/channel/', { id, base_url: closed, key: 'sk-a' })
    expect((await admin.get(`/api/channel/fetch_models/${id}`)).status).toBe(200)
    // A form that edits a channel says which, and leaves the key blank.
    const edited = await create({ base_url: upstream.url })
    const blank = { id: edited, base_url: upstream.url, type: 1, key: '' }
    expect((await admin.post('/api/channel/fetch_models', blank)).data).toEqual(stored.data)
    expect((await admin.post('/api/channel/fetch_models', { ...blank, base_url: closed })).body['message']).toBe(
      '修改接口地址或类型时需要重新填写密钥',
    )
    expect((await admin.post('/api/channel/fetch_models', { type: 'x' })).status).toBe(400)
    expect((await admin.post('/api/channel/fetch_models', '{')).status).toBe(400)
  })
})

describe('a test and a balance', () => {
  it('stand beside success, also when they fail', async () => {
    const id = await create({ base_url: upstream.url, models: 'gpt-4o-mini' })
    const passed = await admin.get(`/api/channel/test/${id}`, { query: { model: '' } })
    expect(passed.body).toEqual({ success: true, message: '', time: expect.any(Number) as number })
    const music = await create({ type: 36, models: 'suno_music' })
    expect((await admin.get(`/api/channel/test/${music}`)).body).toMatchObject({ success: false, time: 0 })
    await admin.put('/api/channel/', { id, base_url: 'http://127.0.0.1:9', key: 'sk-a' })
    const failed = await admin.get(`/api/channel/test/${id}`)
    expect(failed.status).toBe(200)
    expect(failed.body).toEqual({
      success: false,
      message: 'cannot connect to the upstream: http://127.0.0.1:9/v1/chat/completions (ECONNREFUSED)',
      time: expect.any(Number) as number,
    })
    expect((await admin.get(`/api/channel/update_balance/${music}/`)).body).toEqual({
      success: false,
      message: '尚未实现',
    })
  })

  it('gives the balance at top level, with its currency', async () => {
    const { send } = app.services.transport
    app.services.transport.send = async () =>
      ({
        status: 200,
        headers: {},
        bytes: async () => Buffer.from('{"total_remaining":2.5,"data":{"available_balance":12}}'),
      }) as unknown as Awaited<ReturnType<typeof send>>
    for (const [type, base_url, balance, currency] of [
      [12, 'https://credit.example', 2.5, 'USD'],
      [25, 'https://api.moonshot.cn', 12, 'CNY'],
    ] as const) {
      const id = await create({ type, base_url })
      const money = { balance, balance_currency: currency }
      expect((await admin.get(`/api/channel/update_balance/${id}/`)).body).toEqual({
        success: true,
        message: '',
        ...money,
      })
      expect((await admin.get(`/api/channel/${id}`)).data).toMatchObject(money)
    }
    app.services.transport.send = send
  })
})
