import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { completion, type Received, type Receiver, startReceiver } from '#test/support/receiver.ts'

let upstream: Receiver
let hook: Receiver

const keyIn = ({ headers }: Received): string => String(headers.authorization).replace('Bearer ', '')
/** Keys say how the upstream takes them. */
const answer = (received: Received) => {
  const key = keyIn(received)
  if (key.startsWith('dead')) return { status: 401, body: { error: { message: 'Incorrect API key provided' } } }
  if (key.startsWith('busy')) return { status: 500, body: { error: { message: 'Try again' } } }
  if (key.startsWith('slow')) slowMs += 3_000_000
  return { body: completion }
}
/** Fifty minutes pass with every answer to a slow key, and what the machine takes for all of them. */
let slowMs = 0
beforeAll(() => {
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + slowMs)
})
afterAll(() => void vi.restoreAllMocks())

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())
// The first account is the one that tests are booked under, and root is notified of channels.
const root = await app.make.user({ role: 100 })
beforeEach(async () => {
  upstream = await startReceiver(answer)
  hook = await startReceiver()
  await app.pool.query(
    'truncate channels, channel_keys, abilities, channel_probes, channel_drifts, notification_counts, job_runs, options',
  )
  await app.pool.query('update users set setting = $1 where id = $2', [
    { notify_type: 'webhook', quota_warning_threshold: 1, webhook_url: hook.url },
    root.id,
  ])
  await setOptions({ ChannelDisableThreshold: '0' })
})
afterEach(async () => {
  await upstream[Symbol.asyncDispose]()
  await hook[Symbol.asyncDispose]()
})

async function setOptions(texts: Record<string, string>): Promise<void> {
  for (const [key, value] of Object.entries(texts)) await app.make.option(key, value)
  await app.services.options.reload()
}
const admin = () => app.trpc(root).admin.channels
const create = async (key: string, input: { status?: 2 | 3; autoBan?: boolean; name?: string; type?: number } = {}) => {
  const { status, ...rest } = input
  const { id } = await admin().create.mutate({
    name: key,
    type: 1,
    key,
    models: ['gpt-4o-mini'],
    baseUrl: upstream.url,
    ...rest,
  })
  if (status) await admin().update.mutate({ id, status })
  return id
}
const run = async (name: string) => (await app.services.jobs.run(name)).finished
const stateOf = async (id: number) => {
  const { status, statusReason, statusAt, keys } = await admin().get.query({ id })
  return { status, statusReason, dated: statusAt !== null, keys: keys.map((key) => key.status) }
}
const notices = () =>
  hook.received.map(({ text }) => JSON.parse(text) as { type: string; title: string; content: string })

/** Runs as its turn would have it, not by anybody's hand. */
async function runBySchedule(name: string): Promise<void> {
  const job = (await import('#server/job-list.ts')).jobList.find((one) => one.name === name)
  await job?.run(app.services, { signal: new AbortController().signal, byHand: false, progress: () => {} })
}

describe('a test of all channels', () => {
  it('switches off what fails for good, says why, and notifies root once the run is over too', async () => {
    await setOptions({ AutomaticDisableChannelEnabled: 'true' })
    const [good, dead, busy, unaffected] = [
      await create('good'),
      await create('dead'),
      await create('busy'),
      await create('dead kept', { autoBan: false }),
    ]
    // Its operator says that this status of its upstream means something else.
    const mapped = await create('dead mapped')
    await admin().update.mutate({ id: mapped, statusCodeMapping: '{"401":"500"}' })
    const { failed, report } = await run('channel-tests')
    expect({ failed, params: report.params }).toEqual({
      failed: false,
      params: { tested: 5, failed: 4, disabled: 1, enabled: 0 },
    })
    expect(await stateOf(dead)).toEqual({
      status: 3,
      statusReason: `status code 401: Incorrect API key provided (${upstream.url}/v1/chat/completions)`,
      dated: true,
      keys: [3],
    })
    expect(await Promise.all([good, busy, unaffected, mapped].map(async (id) => (await stateOf(id)).status))).toEqual([
      1, 1, 1, 1,
    ])
    await expect.poll(() => notices().length).toBe(2)
    expect(notices()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: `channel_update_${dead}_3`,
          title: `渠道 dead (#${dead}) 已自动禁用`,
          content: `渠道 dead (#${dead}) 已自动禁用，原因：status code 401: Incorrect API key provided (${upstream.url}/v1/chat/completions)`,
        }),
        expect.objectContaining({ type: 'channel_test', title: '渠道测试完成' }),
      ]),
    )
    const { rows } = await app.pool.query('select enabled from abilities where channel_id = $1', [dead])
    expect(rows).toEqual([{ enabled: false }])
  })

  it('works with what the database cannot keep of the upstream’s words', async () => {
    await setOptions({ AutomaticDisableChannelEnabled: 'true' })
    upstream.answerWith(() => ({ status: 401, body: { error: { message: 'Incorrect\0 API key \ud83d provided' } } }))
    const id = await create('dead')
    expect((await run('channel-tests')).report.params).toEqual({ tested: 1, failed: 1, disabled: 1, enabled: 0 })
    expect(await stateOf(id)).toMatchObject({ status: 3, statusReason: expect.stringContaining('Incorrect API key') })
  })

  it('leaves channels on while automatic disabling is off, however they fail', async () => {
    const dead = await create('dead')
    await run('channel-tests')
    expect(await stateOf(dead)).toMatchObject({ status: 1, keys: [1] })
  })

  it('takes out the key alone where the channel has others', async () => {
    await setOptions({ AutomaticDisableChannelEnabled: 'true' })
    const id = await create('dead,good')
    await run('channel-tests')
    expect(await stateOf(id)).toMatchObject({ status: 1, keys: [3, 1] })
  })

  it('switches off what answers too slowly, with both figures', async () => {
    await setOptions({ ChannelDisableThreshold: '1500' })
    const [quick, slow, unaffected] = [
      await create('good'),
      await create('slow'),
      await create('slow 2', { autoBan: false }),
    ]
    expect((await run('channel-tests')).report.params).toEqual({ tested: 3, failed: 0, disabled: 1, enabled: 0 })
    const { status, statusReason } = await stateOf(slow)
    expect(status).toBe(3)
    expect(statusReason).toMatch(/^响应 3\d{3}\.\d\d 秒，超过上限 1500\.00 秒$/)
    expect(await Promise.all([quick, unaffected].map(async (id) => (await stateOf(id)).status))).toEqual([1, 1])
  })

  it('brings back what went off by itself once it answers, and never what a person switched off', async () => {
    const [off, byHand, dead, slow] = [
      await create('good', { status: 3 }),
      await create('good too', { status: 2 }),
      await create('dead', { status: 3 }),
      await create('slow', { status: 3 }),
    ]
    await app.pool.query('update channel_keys set status = 3 where channel_id = $1', [off])
    await run('channel-tests')
    expect((await stateOf(off)).status).toBe(3)
    await setOptions({ AutomaticEnableChannelEnabled: 'true', ChannelDisableThreshold: '1500' })
    expect((await run('channel-tests')).report.params).toEqual({ tested: 4, failed: 1, disabled: 0, enabled: 1 })
    expect(await stateOf(off)).toEqual({ status: 1, statusReason: '', dated: false, keys: [1] })
    expect(await Promise.all([byHand, dead, slow].map(async (id) => (await stateOf(id)).status))).toEqual([2, 3, 3])
    await expect.poll(() => notices().map(({ title }) => title)).toContain(`渠道 good (#${off}) 已重新启用`)
    expect(notices().find(({ type }) => type === `channel_update_${off}_1`)).toBeDefined()
  })

  it('does not bring back a channel whose only answering key a person switched off', async () => {
    await setOptions({ AutomaticEnableChannelEnabled: 'true' })
    const id = await create('good', { status: 3 })
    await app.pool.query('update channel_keys set status = 2 where channel_id = $1', [id])
    await run('channel-tests')
    expect(await stateOf(id)).toMatchObject({ status: 3, keys: [2] })
  })

  it('by schedule leaves out what a person switched off, and notifies nobody of its end', async () => {
    await create('good')
    await create('good too', { status: 2 })
    await create('drawing', { type: 2 })
    await runBySchedule('channel-tests')
    expect(upstream.received.map(keyIn)).toEqual(['good'])
    await run('channel-tests')
    expect(upstream.received.map(keyIn)).toEqual(['good', 'good', 'good too'])
    expect(notices().map(({ type }) => type)).toEqual(['channel_test'])
  })

  it('runs once at a time, by REST and tRPC, shows how far it is, and can be ended', async () => {
    await create('slow 1')
    await create('slow 2')
    upstream.answerWith((received) => ({ ...answer(received), delayMs: 600_000 }))
    expect((await app.rest(root, 'GET', '/api/channel/test')).json).toEqual({ success: true, message: '' })
    expect((await app.rest(root, 'GET', '/api/channel/test/')).json).toEqual({
      success: false,
      message: '测试正在进行',
    })
    await expect(admin().testAll.mutate()).rejects.toMatchObject({ data: { domainCode: 'channel.test_running' } })
    await expect
      .poll(
        async () =>
          (await app.trpc(root).admin.channels.runs.query()).find(({ name }) => name === 'channel-tests')?.running,
      )
      .toMatchObject({ done: 0, total: 2, byHand: true })
    await expect.poll(() => upstream.received.length).toBe(1)
    await admin().cancelRun.mutate({ name: 'channel-tests' })
    await expect
      .poll(async () => (await admin().runs.query())[0])
      .toMatchObject({ running: null, last: { failed: false } })
    expect(upstream.received).toHaveLength(1)
    const { rows } = await app.pool.query('select * from channel_probes')
    expect(rows).toEqual([])
  })
})

describe('an update of all balances', () => {
  const billing = (limits: Record<string, number>) => (received: Received) => {
    if (keyIn(received) === 'broken') return { status: 500, body: {} }
    return received.path.includes('subscription')
      ? { body: { hard_limit_usd: limits[keyIn(received)] } }
      : { body: { total_usage: 150 } }
  }

  it('keeps what each provider says and switches off who has nothing left; failures stop nobody', async () => {
    upstream.answerWith(billing({ rich: 11.5, poor: 1.5, off: 1 }))
    const [broken, rich, poor, off, other] = [
      await create('broken'),
      await create('rich'),
      await create('poor', { autoBan: false }),
      await create('off', { status: 2 }),
      await create('claude', { type: 14 }),
    ]
    const reply = await app.rest(root, 'GET', '/api/channel/update_balance')
    expect(reply.json).toEqual({ success: true, message: '' })
    const { rows } = await app.pool.query(
      'select id, balance, status, status_reason as reason, balance_updated_at is not null as updated from channels order by id',
    )
    expect(rows).toEqual([
      { id: broken, balance: 0, status: 1, reason: '', updated: false },
      // 11.5 less 150 cents.
      { id: rich, balance: 10, status: 1, reason: '', updated: true },
      { id: poor, balance: 0, status: 3, reason: '余额不足', updated: true },
      { id: off, balance: 0, status: 2, reason: '', updated: false },
      { id: other, balance: 0, status: 1, reason: '', updated: false },
    ])
    const [, balances] = await admin().runs.query()
    expect(balances?.last?.params).toEqual({ updated: 2, failed: 1, disabled: 1 })
    await expect.poll(() => notices().map(({ title }) => title)).toEqual([`渠道 poor (#${poor}) 已自动禁用`])
  })

  it('switches off one of several keys when that one has nothing left, and goes on to the next', async () => {
    upstream.answerWith(billing({ spent: 1.5, empty: 1, funded: 11.5 }))
    const some = await create('spent,funded,empty')
    const none = await create('spent,empty')
    await app.rest(root, 'GET', '/api/channel/update_balance')
    const { rows } = await app.pool.query(
      `select id, status, balance::float8 as balance,
         (select array_agg(k.status order by position) from channel_keys k where channel_id = c.id) as keys
       from channels c order by id`,
    )
    expect(rows).toEqual([
      { id: some, status: 1, balance: 10, keys: [3, 1, 1] },
      { id: none, status: 3, balance: -0.5, keys: [3, 3] },
    ])
    const [, balances] = await admin().runs.query()
    expect(balances?.last?.params).toEqual({ updated: 2, failed: 0, disabled: 1 })
  })

  it('is compared with what was counted only where all of it was spent with one key', async () => {
    const limits = { first: 101.5, second: 11.5, only: 101.5 }
    upstream.answerWith(billing(limits))
    const [several, one] = [await create('first,second'), await create('only')]
    const refresh = () => app.rest(root, 'GET', '/api/channel/update_balance')
    await refresh()
    limits.first -= 10
    limits.only -= 10
    await refresh()
    const checkOf = async (channelId: number) =>
      (await app.trpc(root).admin.prices.channelMoney.query({ channelId })).balanceCheck
    expect(await checkOf(one)).toEqual({ reported: 10, counted: 0, readings: 1 })
    expect(await checkOf(several)).toBeNull()
  })
})

describe('a comparison with the upstream lists', () => {
  it('keeps what differs for each channel until its models are changed', async () => {
    upstream.answerWith((received) =>
      keyIn(received) === 'broken'
        ? { status: 500, body: { error: { message: 'down' } } }
        : { body: { data: [{ id: 'gpt-4o-mini' }, { id: 'new-model' }] } },
    )
    const [same, differs, broken] = [await create('same'), await create('differs'), await create('broken')]
    await admin().update.mutate({ id: same, models: ['gpt-4o-mini', 'new-model'] })
    await admin().update.mutate({
      id: differs,
      models: ['gpt-4o-mini', 'old-model', 'alias'],
      modelMapping: '{"alias":"gpt-4o-mini"}',
    })
    expect((await run('channel-models')).report.params).toEqual({ compared: 2, changed: 1, failed: 1 })
    const ids = [same, differs, broken]
    const drifts = async () =>
      new Map(
        (await app.trpc(root).admin.channels.drifts.query({ ids })).map((drift) => [drift.channelId, drift] as const),
      )
    expect((await drifts()).get(same)).toMatchObject({ added: [], gone: [], problem: '' })
    expect((await drifts()).get(differs)).toMatchObject({ added: ['new-model'], gone: ['old-model'] })
    expect((await drifts()).get(broken)?.problem).toContain('down')
    await admin().update.mutate({ id: differs, models: ['gpt-4o-mini', 'new-model', 'alias'] })
    expect((await drifts()).get(differs)).toMatchObject({ added: [], gone: [] })
    await admin().remove.mutate({ id: differs })
    expect((await drifts()).has(differs)).toBe(false)
  })
})

describe('a comparison with a list that the database cannot keep', () => {
  it('keeps what it can of names and of refusals', async () => {
    upstream.answerWith((received) =>
      keyIn(received) === 'broken'
        ? { status: 500, body: { error: { message: 'do\0wn' } } }
        : { body: { data: [{ id: 'gpt-4o-mini' }, { id: 'new\0-model' }] } },
    )
    const [differs, broken] = [await create('differs'), await create('broken')]
    expect((await run('channel-models')).report.params).toEqual({ compared: 1, changed: 1, failed: 1 })
    const drifts = await app.trpc(root).admin.channels.drifts.query({ ids: [differs, broken] })
    expect(drifts.map(({ added, problem }) => [added, problem.includes('down')])).toEqual([
      [['new-model'], false],
      [[], true],
    ])
  })
})

describe('by itself', () => {
  it('balances are asked for and ended hours added up as often as root wants, and never at 0', async () => {
    upstream.answerWith(({ path }) => ({
      body: path.includes('subscription') ? { hard_limit_usd: 10 } : { total_usage: 100 },
    }))
    await create('rich')
    const names = ['channel-balances', 'usage-rollup']
    const jobs = (await import('#server/job-list.ts')).jobList.filter(({ name }) => names.includes(name))
    /** Those whose last run has ended and began now, not as long ago as is said of it. */
    const fresh = async () => {
      const { rows } = await app.pool.query<{ name: string }>(
        "select name from job_runs where running_since is null and started_at > now() - interval '10 minutes' order by name",
      )
      return rows.map(({ name }) => name)
    }
    const age = (minutes: number) =>
      app.pool.query('update job_runs set started_at = started_at - make_interval(mins => $1)', [minutes])
    await setOptions({ ChannelUpdateFrequency: '15', DataExportInterval: '30' })
    await using node = await startApp({ on: app, jobs, jobsLookEveryMs: 20 })
    node.services.jobs.start()
    await expect.poll(fresh).toEqual(names)
    expect(upstream.received.length).toBe(2)
    await age(16)
    await expect.poll(fresh).toEqual(['channel-balances'])
    expect(upstream.received.length).toBe(4)
    await age(15)
    await expect.poll(fresh).toEqual(names)
    expect(upstream.received.length).toBe(6)
    await setOptions({ ChannelUpdateFrequency: '0' })
    await node.services.options.reload()
    await age(1000)
    // The other one has its turn, so both were looked at.
    await expect.poll(fresh).toEqual(['usage-rollup'])
    expect(upstream.received.length).toBe(6)
  })
})
