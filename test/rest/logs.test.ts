import { beforeEach, describe, expect, it } from 'vitest'
import { Log } from '#db/entities/log.ts'
import { sha256 } from '#features/secrets/service.ts'
import { startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
const anna = await app.person({ username: 'anna' })
const admin = await app.signedIn(await app.person({ role: 10 }))
const user = await app.signedIn(anna)
await app.sql(`insert into channels (type, name, key_encrypted) values (1, 'the channel', '')`)
beforeEach(async () => {
  await app.sql('truncate logs, tokens, usage_hourly restart identity')
})

const at = (second: number) => new Date((1_767_225_600 + second) * 1000)
const log = (fields: Partial<Log> = {}) =>
  app.em().insert(Log, { userId: anna.id, username: 'anna', type: 2, createdAt: at(0), ...fields })
const stamp = (second: number) => String(1_767_225_600 + second)

const full: Partial<Log> = {
  content: 'text',
  tokenName: 'home',
  tokenId: 4,
  modelName: 'gpt-4o',
  quota: 77,
  promptTokens: 10,
  completionTokens: 5,
  useTimeMs: 2999,
  isStream: true,
  channelId: 1,
  group: 'default',
  clientIp: '10.0.0.1',
  requestId: 'r1',
  other: { model_ratio: 1.25, model_price: -1, admin_info: { use_channel: ['1'] } },
}
const row = {
  user_id: 0,
  created_at: 1_767_225_600,
  type: 2,
  content: 'text',
  username: 'anna',
  token_name: 'home',
  token_id: 4,
  model_name: 'gpt-4o',
  quota: 77,
  prompt_tokens: 10,
  completion_tokens: 5,
  use_time: 2,
  is_stream: true,
  channel: 1,
  group: 'default',
  client_ip: '10.0.0.1',
}

describe('the log on the wire', () => {
  it('has exactly the documented fields, fewer of them for a user', async () => {
    await log(full)
    const all = await admin.get('/api/log/', { query: { p: '0', page_size: '10', type: '0' } })
    const [shown] = (all.data as { items: { other: string }[] }).items
    expect(all.data).toEqual({
      items: [{ ...row, user_id: anna.id, id: 1, channel_name: 'the channel', other: shown?.other }],
      total: 1,
      page: 1,
      page_size: 10,
    })
    expect(JSON.parse(shown?.other ?? '')).toEqual(full.other)
    const own = await user.get('/api/log/self/')
    const [mine] = (own.data as { items: { other: string }[] }).items
    expect(own.data).toEqual({
      items: [{ ...row, user_id: anna.id, id: 1, channel_name: '', other: mine?.other }],
      total: 1,
      page: 1,
      page_size: 10,
    })
    expect(JSON.parse(mine?.other ?? '')).toEqual({ model_ratio: 1.25, model_price: -1 })
    expect((await user.get('/api/log/')).body['success']).toBe(false)
  })

  it('has a system prompt for users where it is marked as the one that they sent, and elsewhere for administrators', async () => {
    await app.sql(
      `insert into tokens (user_id, name, key_hash, key_encrypted, key_mask) values ($1, 'home', $2, '', '')`,
      [anna.id, sha256('abc')],
    )
    const sent = (role: string) => ({
      system_prompt: 'the prompt',
      context: [],
      input_content: { role, content: role === 'system' ? 'the prompt' : 'hi' },
      output_content: 'hello',
    })
    const others = [
      { ...sent('user'), own_system_prompt: true },
      { ...sent('user'), own_system_prompt: false },
      // From before rows said so; of nothing but a system prompt, that is what was asked, too.
      sent('user'),
      sent('system'),
    ]
    for (const other of others) await log({ other, tokenId: 1 })
    const read = ({ data }: { data: unknown }) => {
      const rows = Array.isArray(data) ? data : (data as { items: unknown[] }).items
      return rows.map((one) => JSON.parse((one as { other: string }).other) as object).toReversed()
    }
    const hidden = { context: [], input_content: { role: 'user', content: 'hi' }, output_content: 'hello' }
    const shown = [sent('user'), hidden, hidden, { ...hidden, input_content: '' }]
    expect(read(await user.get('/api/log/self'))).toEqual(shown)
    expect(read(await user.get('/api/log/self/search', { query: { keyword: '2' } }))).toEqual(shown)
    expect(read(await user.get('/api/log/token', { query: { key: 'sk-abc' } }))).toEqual(shown)
    expect(read(await admin.get('/api/log/'))).toEqual(others)
  })

  it('has an empty text where there is nothing to tell', async () => {
    await log({ type: 4 })
    expect((await user.get('/api/log/self')).data).toMatchObject({ items: [{ type: 4, other: '', channel_name: '' }] })
  })

  it('is filtered by the documented words, times included to the second', async () => {
    await log({ content: 'a', createdAt: new Date(at(1).getTime() + 700), modelName: 'gpt-4o', channelId: 1 })
    await log({ content: 'b', createdAt: at(5), modelName: 'gpt-4o-mini', tokenName: 'home', group: 'vip' })
    await log({ content: 'c', createdAt: at(9), type: 1 })
    const found = async (query: Record<string, string>) => {
      const { items } = (await admin.get('/api/log/', { query })).data as { items: { content: string }[] }
      return items.map(({ content }) => content)
    }
    expect(await found({ type: '1' })).toEqual(['c'])
    expect(await found({ username: 'anna', token_name: 'home', group: 'vip' })).toEqual(['b'])
    expect(await found({ username: 'ann' })).toEqual([])
    expect(await found({ model_name: 'gpt-4o%' })).toEqual(['b', 'a'])
    expect(await found({ channel: '1' })).toEqual(['a'])
    expect(await found({ channel: '0', start_timestamp: stamp(5), end_timestamp: stamp(9) })).toEqual(['c', 'b'])
    expect(await found({ end_timestamp: stamp(1), start_timestamp: '0' })).toEqual(['a'])
    expect(await found({ start_timestamp: 'NaN', end_timestamp: 'undefined', type: '' })).toEqual(['c', 'b', 'a'])
    expect(await found({ p: '2', page_size: '2' })).toEqual(['a'])
    // A channel that is no number is a name, and a type that there is not is refused: neither finds everything.
    expect(await found({ channel: 'word' })).toEqual([])
    expect(await found({ channel: 'NaN' })).toEqual(['c', 'b', 'a'])
    expect(await found({ channel: '1.5' })).toEqual([])
    expect(await found({ start_timestamp: '99999999999999' })).toEqual([])
    const refused: Record<string, string>[] = [
      { type: '9' },
      { type: '-1' },
      { type: 'word' },
      { type: '1.5' },
      { start_timestamp: 'yesterday' },
      { end_timestamp: '2026-01-01' },
      { channel: '-1' },
    ]
    for (const query of refused) {
      const { status, body } = await admin.get('/api/log/', { query })
      expect([status, body['success'], String(body['message']).slice(0, 6)]).toEqual([200, false, '请求参数无效'])
      expect(body['message'], 'under the name that was sent').toMatch(new RegExp(Object.keys(query).join()))
    }
    // What only administrators may ask is no filter for a user.
    expect((await user.get('/api/log/self', { query: { channel: '9', username: 'x' } })).data).toMatchObject({
      total: 3,
    })
  })

  it('has sums that count consumption alone', async () => {
    // However long the test takes, what is dated an hour ahead is of the last minute.
    const hourAhead = Math.floor(Date.now() / 1000) + 3600
    const createdAt = new Date(hourAhead * 1000)
    await log({ ...full, createdAt })
    await log({ type: 1, quota: 1000, createdAt })
    const between = { start_timestamp: String(hourAhead - 60), end_timestamp: String(hourAhead + 60) }
    const query = { type: '1', token_name: 'home', ...between }
    const sums = { quota: 77, rpm: 1, tpm: 15 }
    expect((await admin.get('/api/log/stat', { query })).data).toEqual(sums)
    expect((await user.get('/api/log/self/stat', { query })).data).toEqual(sums)
    expect((await user.get('/api/log/stat')).body['success']).toBe(false)
    const spent = async (channel: number) =>
      ((await user.get('/api/log/self/stat', { query: { ...query, channel: String(channel) } })).data as typeof sums)
        .quota
    expect([await spent(1), await spent(2)]).toEqual([77, 0])
  })

  it('of a key says how many rows there are, and goes on by pages', async () => {
    await app.sql(
      `insert into tokens (user_id, name, key_hash, key_encrypted, key_mask) values ($1, 'home', $2, '', '')`,
      [anna.id, sha256('abc')],
    )
    await app.sql(
      `insert into logs (user_id, username, type, token_id, created_at, content)
       select $1, 'anna', 2, 1, $2, 'row ' || n from generate_series(1, 1002) n`,
      [anna.id, at(0)],
    )
    const page = async (p: string) => {
      const { data, headers } = await user.get('/api/log/token', { query: { key: 'sk-abc', p } })
      const rows = data as { content: string }[]
      expect(headers.get('access-control-expose-headers')).toBe('x-total-count')
      return [headers.get('x-total-count'), rows.length, rows[0]?.content]
    }
    expect(await page('')).toEqual(['1002', 1000, 'row 1002'])
    expect(await page('1')).toEqual(['1002', 1000, 'row 1002'])
    expect(await page('2')).toEqual(['1002', 2, 'row 2'])
  })

  it('is searched by keyword and by key, in bare arrays', async () => {
    await app.sql(
      `insert into tokens (user_id, name, key_hash, key_encrypted, key_mask) values ($1, 'home', $2, '', '')`,
      [anna.id, sha256('abc')],
    )
    await log({ ...full, tokenId: 1 })
    await log({ type: 4, content: 'gift' })
    expect((await admin.get('/api/log/search', { query: { keyword: 'gi' } })).data).toMatchObject([{ content: 'gift' }])
    expect((await user.get('/api/log/self/search', { query: { keyword: '4' } })).data).toMatchObject([{ type: 4 }])
    expect((await user.get('/api/log/self/search', { query: { keyword: 'gi' } })).data).toEqual([])
    const ofKey = await user.get('/api/log/token', { query: { key: 'sk-abc' } })
    expect(ofKey.data).toMatchObject([
      { content: 'text', channel_name: '', other: expect.not.stringContaining('admin') },
    ])
    expect((await user.get('/api/log/token', { query: { key: 'sk-x' } })).body['success']).toBe(false)
    const anonymous = await app.browser().get('/api/log/token', { query: { key: 'sk-abc' } })
    expect(anonymous.status).toBe(401)
    for (const { headers } of [ofKey, anonymous]) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
    expect((await user.get('/api/log/self')).headers.get('access-control-allow-origin')).toBeNull()
  })

  it('is filtered by names that are offered: a user is shown the own alone, wildcards of the database are letters', async () => {
    const bert = await app.person({ username: 'bert', displayName: 'Anna Bert' })
    for (const [owner, name] of [[anna.id, 'home'], [anna.id, 'at_home'], [bert.id, 'his home']] as const) // prettier-ignore
      await app.sql(`insert into tokens (user_id, name, key_hash, key_encrypted, key_mask) values ($1, $2, $2, '', '')`, [owner, name]) // prettier-ignore
    await app.sql(
      `insert into usage_hourly (hour, user_id, model_name, channel_id, token_id, "group") values (now(), $1, 'gpt-4o', 1, 1, 'default'), (now(), $2, 'his-gpt', 1, 1, 'default')`,
      [anna.id, bert.id],
    )
    const values = (found: { value: string }[]) => found.map(({ value }) => value)
    const own = await app.trpc(anna)
    expect(values(await own.user.logs.suggest({ field: 'token', text: 'HOME' }))).toEqual(['home', 'at_home'])
    expect(values(await own.user.logs.suggest({ field: 'model', text: 'gpt' }))).toEqual(['gpt-4o'])
    const all = await app.trpc(await app.person({ role: 10 }))
    const offered = (field: 'user' | 'channel' | 'token' | 'model', text: string) =>
      all.admin.logs.suggest({ field, text })
    expect(values(await offered('token', 'home'))).toEqual(['home', 'at_home', 'his home'])
    expect(values(await offered('token', '_'))).toEqual(['at_home'])
    expect(await offered('user', 'anna')).toEqual([
      { value: 'anna', note: expect.any(String) },
      { value: 'bert', note: 'Anna Bert' },
    ])
    expect(await offered('channel', 'CHANNEL')).toMatchObject([{ value: 'the channel' }])
    expect(await offered('user', '%')).toEqual([])
  })

  it('is cleared up to an instant, and not without one', async () => {
    await log({ createdAt: at(0) })
    await log({ createdAt: at(2) })
    expect((await admin.delete('/api/log/', { query: { target_timestamp: `${stamp(1)}.9` } })).data).toBe(1)
    const refused = await admin.delete('/api/log/', { query: { target_timestamp: '0' } })
    expect(refused.body).toMatchObject({ success: false, message: '请选择清理时间' })
    expect((await user.delete('/api/log/', { query: { target_timestamp: stamp(9) } })).body['success']).toBe(false)
    expect(await app.sql('select 1 from logs')).toHaveLength(1)
  })
})
