import { beforeAll, describe, expect, it } from 'vitest'
import { type Browser, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
let root: Browser
const stored = { token: 0, redemption: 0, channel: 0, user: 0 }

beforeAll(async () => {
  root = await app.signedIn(await app.person({ role: 100 }))
  stored.user = (await app.person({ quota: 700 })).id
  await root.post('/api/token/', { name: 'kept', remain_quota: 5 })
  await root.post('/api/channel/', { name: 'kept', type: 1, key: 'k', models: 'm', priority: 5 })
  await root.post('/api/redemption/', { name: 'kept', quota: 5, count: 1 })
  for (const [kind, table] of [
    ['token', 'tokens'],
    ['channel', 'channels'],
    ['redemption', 'redemptions'],
  ] as const) {
    stored[kind] = (await app.sql(`select id from ${table}`))[0]?.['id'] as number
  }
})

const rows = async () => {
  const [tokens, users, channels, redemptions] = await Promise.all([
    app.sql('select id, name, remain_quota, model_limits_enabled, status, deleted_at from tokens'),
    app.sql('select id, display_name, quota, status, role from users order by id'),
    app.sql('select id, name, status, priority, type, tag from channels'),
    app.sql('select id, name, quota, status, max_uses, deleted_at from redemptions'),
  ])
  return { tokens, users, channels, redemptions }
}

const kinds = ['token', 'channel', 'redemption', 'user'] as const

describe('an id', () => {
  it.each(kinds)('of a %s that is no whole number in digits is nobody’s', async (kind) => {
    const before = await rows()
    const id = stored[kind]
    for (const spelled of [`${id}.7`, `${id}e0`, `0x${id.toString(16)}`, `+${id}`, `-${id}`, 'NaN']) {
      const path = `/api/${kind}/${encodeURIComponent(spelled)}`
      expect((await root.get(path)).body, spelled).toMatchObject({ success: false })
      expect((await root.delete(path)).body, spelled).toMatchObject({ success: false })
    }
    for (const given of [id + 0.5, `${id}.5`, `${id}e0`, [id], true]) {
      const body = { id: given, name: 'other', display_name: 'other', username: 'other', quota: 9, status: 2 }
      expect((await root.put(`/api/${kind}/`, body)).body, String(given)).toMatchObject({ success: false })
      expect((await root.put(`/api/${kind}/?status_only=true`, body)).body, String(given)).toMatchObject({
        success: false,
      })
    }
    expect(await rows()).toEqual(before)
    expect((await root.get(`/api/${kind}/${id}`)).body).toMatchObject({ success: true })
  })

  it('in a list that is none refuses the list', async () => {
    const before = await rows()
    for (const bad of [0.5, '1.5', 'x', null]) {
      const channels = [stored.channel, typeof bad === 'number' ? stored.channel + bad : bad]
      expect((await root.post('/api/channel/batch', { ids: channels })).body).toMatchObject({ success: false })
      const tagged = await root.post('/api/channel/batch/tag', { ids: channels, tag: 'T' })
      expect(tagged.body).toMatchObject({ success: false })
      const codes = { ids: [stored.redemption, bad] }
      expect((await root.put('/api/redemption/batch-disable', codes)).body).toMatchObject({ success: false })
    }
    const act = { id: stored.user + 0.9, action: 'disable' }
    expect((await root.post('/api/user/manage', act)).body).toMatchObject({ success: false })
    expect(await rows()).toEqual(before)
  })

  it('may be sent in digits', async () => {
    const token = await root.put('/api/token/?status_only=true', { id: String(stored.token), status: '1' })
    expect(token.data).toMatchObject({ id: stored.token, status: 1 })
    const { data } = await root.post('/api/channel/batch/tag', { ids: [String(stored.channel)], tag: null })
    expect(data).toBe(1)
  })
})

describe('a number or a switch of a body', () => {
  it.each([
    ['PUT', '/api/user/', () => ({ id: stored.user, quota: 'abc' })],
    ['PUT', '/api/user/', () => ({ id: stored.user, quota: {} })],
    ['PUT', '/api/token/', () => ({ id: stored.token, name: 'kept', remain_quota: '1,000' })],
    ['PUT', '/api/token/', () => ({ id: stored.token, name: 'kept', model_limits_enabled: 'on' })],
    ['PUT', '/api/token/', () => ({ id: stored.token, name: 'kept', rate_limit_enabled: 2 })],
    ['POST', '/api/token/', () => ({ name: 'made', remain_quota: 'x' })],
    ['POST', '/api/redemption/', () => ({ name: 'gift', quota: 5, count: 1, is_gift: true, max_uses: 'x' })],
    ['POST', '/api/redemption/', () => ({ name: 'late', quota: 5, count: 1, valid_until: 'tomorrow' })],
    ['PUT', '/api/channel/', () => ({ id: stored.channel, priority: 'high' })],
    ['PUT', '/api/channel/', () => ({ id: stored.channel, priority: 1.5 })],
    ['PUT', '/api/channel/', () => ({ id: stored.channel, status: 9 })],
    ['PUT', '/api/channel/', () => ({ id: stored.channel, status: 'disabled' })],
    ['POST', '/api/channel/', () => ({ name: 'made', type: 'claude', key: 'k', models: 'm' })],
  ] as const)('%s %s is refused where it cannot be read, and writes nothing', async (method, path, bodyOf) => {
    const before = await rows()
    const reply = method === 'PUT' ? await root.put(path, bodyOf()) : await root.post(path, bodyOf())
    expect(reply).toMatchObject({ status: 200, body: { success: false } })
    expect(await rows()).toEqual(before)
  })

  it('is read in the words of scripts and of other servers, and nothing is nothing', async () => {
    for (const on of ['True', 'TRUE', 't', '1', 1, true]) {
      const body = { id: stored.token, name: 'kept', model_limits_enabled: on, remain_quota: ' 5 ' }
      expect((await root.put('/api/token/', body)).data).toMatchObject({ model_limits_enabled: true, remain_quota: 5 })
    }
    for (const off of ['False', 'f', '0', 0, false, null, '']) {
      const body = { id: stored.token, name: 'kept', model_limits_enabled: off, remain_quota: 5 }
      expect((await root.put('/api/token/', body)).data).toMatchObject({ model_limits_enabled: false })
    }
    const complete = { id: stored.channel, status: 0, priority: null, weight: '', auto_ban: '1' }
    expect((await root.put('/api/channel/', complete)).data).toMatchObject({ status: 1, priority: 5, auto_ban: 1 })
  })
})

it('a switch among the options is read in the same words, and no other word switches it off', async () => {
  const put = async (value: unknown) => {
    const reply = await root.put('/api/option/', { key: 'TurnstileCheckEnabled', value })
    return [reply.body['success'], app.services.options.get('TurnstileCheckEnabled')]
  }
  await app.setOptions({ TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret' })
  for (const on of ['True', 't', '1', 1, true, 'true']) {
    expect(await put(on)).toEqual([true, true])
    expect(await put('yes')).toEqual([false, true])
    expect(await put('False')).toEqual([true, false])
  }
})

it('kinds and states of channels that cannot be read narrow nothing to everything', async () => {
  const unreadable: Record<string, string>[] = [{ types: 'openai' }, { statuses: 'enabled' }, { statuses: '1,x' }]
  for (const query of unreadable) {
    expect((await root.get('/api/channel/search', { query })).body).toMatchObject({ success: false })
  }
  const { data } = await root.get('/api/channel/search', { query: { types: 'null', statuses: ' 1 , 2 ' } })
  expect(data).toHaveLength(1)
})

it('lists are sorted by the switch as scripts print it', async () => {
  await root.post('/api/channel/', { name: 'later', type: 1, key: 'k', models: 'm', priority: 1 })
  const names = async (id_sort: string) =>
    ((await root.get('/api/channel/', { query: { id_sort } })).data as { name: string }[]).map(({ name }) => name)
  expect(await names('True')).toEqual(['later', 'kept'])
  expect(await names('False')).toEqual(['kept', 'later'])
})

describe('a rank of the model mapping', () => {
  const put = (entry: Record<string, unknown>) => root.put('/api/model_mapping/', { mapping: { virtual: [entry] } })

  it('may be nothing or a text of digits', async () => {
    for (const weight of [null, '', '0', undefined]) {
      const { data } = await put({ model: 'm', priorities: '3', weight })
      expect(data).toEqual({ mapping: { virtual: [{ model: 'm', priorities: 3, weight: 0 }] } })
    }
  })

  it('is refused with 400 where it is missing or no number', async () => {
    for (const entry of [
      { model: 'm' },
      { model: 'm', priorities: 'first' },
      { model: 'm', priorities: 1, weight: {} },
    ]) {
      expect(await put(entry)).toMatchObject({ status: 400, body: { success: false } })
    }
  })
})
