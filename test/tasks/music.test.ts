import { describe, expect, test } from 'vitest'
import { setOptions, withOptions } from '#test/relay/serve.ts'
import { balanceOf, call, holder, type Holder, tasksOf, logged, musicChannel, poll, refundsOf } from './world.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

const app = await startBalancedApp()
const channel = await musicChannel(app)

const lastSent = () => app.upstream.requests.at(-1)
const compose = (by: Holder | Holder['token'], prompt = 'a song', more: Record<string, unknown> = {}) =>
  call(app, by, 'POST /suno/submit/music', { gpt_description_prompt: prompt, ...more })

/** A group of its own, so that only the channels given serve it. */
async function inGroup(by: Holder, group: string): Promise<Holder['token']> {
  await setOptions(app, {
    UserUsableGroups: JSON.stringify({ default: '', [group]: '' }),
    GroupRatio: JSON.stringify({ default: 1, [group]: 1 }),
  })
  return app.make.token(by.user, { group })
}

describe('music', () => {
  test('names to its caller, and in the log, what was not sent on', async () => {
    const by = await holder(app)
    const { status, headers } = await compose(by, 'a song', { prompt_id: 'p1' })
    expect([status, headers.get('x-translation-loss')]).toEqual([200, 'prompt_id'])
    expect(lastSent()?.body).not.toHaveProperty('prompt_id')
    expect(await logged(app, by, 2)).toMatchObject([{ other: { losses: ['prompt_id'] } }])
    expect((await compose(by)).headers.get('x-translation-loss')).toBeNull()
  })

  test('is charged once when it is taken, and asked after until it is done', async () => {
    const by = await holder(app, { remainQuota: 60_000 })
    const { status, json } = await compose(by, 'a song')
    const id = String(json['data'])
    expect([status, json]).toEqual([200, { code: 'success', message: '', data: id }])
    expect(lastSent()).toMatchObject({
      path: '/suno/submit/MUSIC',
      key: 'music-secret-key',
      body: { gpt_description_prompt: 'a song', mv: 'chirp-v3-0' },
    })
    expect(await balanceOf(app, by)).toEqual({ quota: 9_950_000, used: 50_000, remain: 10_000, tokenUsed: 50_000 })
    const [row] = await logged(app, by, 2)
    expect(row).toMatchObject({
      model_name: 'suno_music',
      quota: 50_000,
      content: '模型固定价格 0.10，分组倍率 1.00，操作 MUSIC',
      other: { model_price: 0.1, group_ratio: 1, task_id: id },
    })
    expect((await tasksOf(app, by))[0]).toMatchObject({
      task_id: id,
      platform: 'suno',
      action: 'MUSIC',
      status: 'NOT_START',
      progress: '0%',
      quota: '50000',
      channel_id: channel,
      properties: { input: 'a song' },
    })

    await poll(app)
    expect(lastSent()).toMatchObject({ path: '/suno/fetch', key: 'music-secret-key' })
    const halfway = (await call(app, by, `GET /suno/fetch/${id}`)).json
    expect(halfway).toMatchObject({ code: 'success', data: { task_id: id, status: 'IN_PROGRESS', progress: '30%' } })
    await poll(app)
    const done = (await call(app, by, `GET /suno/fetch/${id}`)).json
    expect(done).toEqual({
      code: 'success',
      message: '',
      data: {
        task_id: id,
        action: 'MUSIC',
        status: 'SUCCESS',
        fail_reason: '',
        submit_time: expect.any(Number),
        start_time: expect.any(Number),
        finish_time: expect.any(Number),
        progress: '100%',
        data: [
          expect.objectContaining({ audio_url: `https://music.example/${id}-1.mp3` }),
          expect.objectContaining({ audio_url: `https://music.example/${id}-2.mp3` }),
        ],
      },
    })
    expect((done['data'] as { finish_time: number }).finish_time).toBeLessThan(100_000_000_000)
    expect(await refundsOf(app, by)).toEqual([])
  })

  test('that fails is paid back once to user and token, whoever asks', async () => {
    const by = await holder(app, { remainQuota: 60_000 })
    const { json } = await compose(by, 'x [[job=failure,polls=1,message=out of tune]]')
    await Promise.all([poll(app), poll(app), poll(app)])
    expect((await tasksOf(app, by))[0]).toMatchObject({
      status: 'FAILURE',
      progress: '100%',
      fail_reason: 'out of tune',
    })
    expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000, remain: 60_000 })
    expect(await refundsOf(app, by)).toEqual([50_000])
    const rows = await logged(app, by, 4)
    expect(rows.map(({ content }) => content)).toEqual([`音乐任务 ${String(json['data'])} 失败，退回 $0.100000`])
  })

  test('that fails gives back to a plan what the plan had paid, and to the balance only what the balance had', async () => {
    const by = await holder(app, { remainQuota: 60_000 })
    const plan = await app.make.subscription(by.user, {
      windows: [{ amount: 30_000 }, { period: 'week', amount: 90_000 }],
    })
    await compose(by, 'x [[job=failure,polls=1,message=out of tune]]')
    expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000 - 20_000, remain: 10_000 })
    await Promise.all(Array.from({ length: 10 }, () => poll(app)))
    expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000, remain: 60_000 })
    expect(await refundsOf(app, by)).toEqual([20_000])
    const { rows } = await app.pool.query(
      'select s.used_quota::int as used, s.refunded_quota::int as refunded from subscriptions s where s.id = $1',
      [plan.id],
    )
    expect(rows).toEqual([{ used: 30_000, refunded: 30_000 }])
    expect(await app.violations()).toEqual([])
  })

  test('that takes longer than a day, has no number, or lost its channel has failed', async () => {
    const by = await holder(app)
    const slow = (await compose(by, 'x [[job=running]]')).json['data']
    const young = (await compose(by, 'x [[job=running]]')).json['data']
    await compose(by, 'x [[blank]]')
    const orphan = (await compose(by)).json['data']
    const age = 'update music_tasks set submitted_at = now() - $2::interval where task_id = $1'
    await app.pool.query(age, [slow, '25 hours'])
    await app.pool.query(age, [young, '23 hours'])
    await app.pool.query('update music_tasks set channel_id = 99999 where task_id = $1', [orphan])
    await poll(app)
    const [first, second, third, fourth] = await tasksOf(app, by)
    expect(first).toMatchObject({ status: 'FAILURE', fail_reason: '上游任务超过 24 小时未完成' })
    expect(second).toMatchObject({ status: 'IN_PROGRESS', progress: '30%' })
    expect(third).toMatchObject({ status: 'FAILURE', task_id: '' })
    expect(fourth).toMatchObject({ status: 'FAILURE', fail_reason: '渠道 99999 不存在' })
    expect(await refundsOf(app, by)).toEqual([50_000, 50_000, 50_000])
  })

  test('lyrics cost a tenth of it', async () => {
    const by = await holder(app)
    const { json } = await call(app, by, 'POST /suno/submit/lyrics', { prompt: 'rain' })
    expect(json).toMatchObject({ code: 'success' })
    expect(lastSent()).toMatchObject({ path: '/suno/submit/LYRICS', body: { prompt: 'rain' } })
    expect((await balanceOf(app, by)).quota).toBe(9_995_000)
  })

  test('is reported to its owner alone', async () => {
    const by = await holder(app)
    const other = await holder(app, { role: 10 })
    const mine = String((await compose(by)).json['data'])
    const lyrics = String((await call(app, by, 'POST /suno/submit/lyrics', { prompt: 'rain' })).json['data'])
    const unknown = { code: 'task_not_exist', message: 'task_not_exist', data: null }
    expect(await call(app, other, `GET /suno/fetch/${mine}`)).toMatchObject({ status: 400, json: unknown })
    const listed = async (who: Holder, body: unknown) =>
      ((await call(app, who, 'POST /suno/fetch', body)).json['data'] as { task_id: string }[]).map((job) => job.task_id)
    expect(await listed(other, { ids: [mine] })).toEqual([])
    expect(await listed(by, { ids: [mine, lyrics, 'nobody'] })).toEqual([mine, lyrics])
    expect(await listed(by, { ids: [mine, lyrics], action: 'lyrics' })).toEqual([lyrics])
    expect(await listed(by, {})).toEqual([])
  })
})

describe('a continuation', () => {
  test('goes to the channel of the job it continues', async () => {
    const by = await holder(app)
    const token = await inGroup(by, 'composers')
    const own = await musicChannel(app, { group: 'composers', key: 'key-of-first' })
    const id = String((await compose(token)).json['data'])
    await musicChannel(app, { group: 'composers', key: 'key-of-second', priority: 100 })
    const body = { task_id: id, continue_clip_id: 'clip', continue_at: 60 }
    expect((await compose(token, 'more', body)).json).toMatchObject({ code: 'success' })
    expect(lastSent()?.key).toBe('key-of-first')
    expect((await compose(await holder(app), 'more', body)).json).toMatchObject({ code: 'task_not_exist' })

    await app.pool.query('update channels set status = 2 where id = $1', [own])
    await app.services.channels.reload(own)
    expect(await compose(token, 'more', body)).toMatchObject({
      status: 400,
      json: { code: 'task_channel_disable', message: '原任务的渠道未启用', data: null },
    })
    await app.pool.query('update music_tasks set channel_id = 99999 where task_id = $1', [id])
    expect(await compose(token, 'more', body)).toMatchObject({ status: 400, json: { code: 'channel_not_found' } })
  })
})

describe('refusals', () => {
  test.each([
    ['sing', {}, 'invalid_request', 'invalid_action'],
    ['lyrics', {}, 'invalid_request', 'prompt_empty'],
    ['music', { continue_clip_id: 'x' }, 'invalid_request', 'task id is empty'],
    ['music', 'no json', 'invalid_request', '请求无法解析'],
  ])('%s %j: %s', async (action, body, code, message) => {
    const by = await holder(app)
    if (action === 'sing') body = { prompt: 'x' }
    const { status, json } = await call(app, by, `POST /suno/submit/${action}`, body)
    expect([status, json]).toEqual([400, { code, message, data: null }])
  })

  test('a user or a token that cannot pay is refused before the upstream is asked', async () => {
    const before = app.upstream.requests.length
    const refused = { status: 403, json: { code: 'quota_not_enough', message: 'insufficient user quota', data: null } }
    expect(await compose(await holder(app, { quota: 49_999 }))).toMatchObject(refused)
    expect(await compose(await holder(app, { remainQuota: 49_999 }))).toMatchObject(refused)
    expect(app.upstream.requests).toHaveLength(before)
  })

  test('the checks of every call hold, and are reported in both forms', async () => {
    const by = await holder(app)
    const { status, json } = await call(app, 'x'.repeat(48), 'POST /suno/submit/music', { prompt: 'x' })
    expect(status).toBe(401)
    expect(json).toEqual({
      code: 'unauthenticated',
      message: expect.stringMatching(/^令牌无效 \(request id: \w+\)$/),
      data: null,
      error: {
        message: expect.stringMatching(/^令牌无效 \(request id: \w+\)$/),
        type: 'gateway_error',
        param: null,
        code: 'unauthenticated',
      },
    })
    const limited = await app.make.token(by.user, { modelLimits: 'suno_lyrics' })
    expect((await compose(limited)).status).toBe(403)
    expect((await call(app, limited, 'POST /suno/submit/lyrics', { prompt: 'x' })).status).toBe(200)
    await app.pool.query('update channels set models = $2 where id = $1', [channel, 'suno_lyrics'])
    await app.services.channels.reload(channel)
    expect(await compose(by)).toMatchObject({ status: 503, json: { code: 'model_not_found' } })
    await app.pool.query('update channels set models = $2 where id = $1', [channel, 'suno_music,suno_lyrics'])
    await app.services.channels.reload(channel)
  })

  test('sensitive words are not sent', async () => {
    const by = await holder(app)
    const { status, json } = await compose(by, 'about test_sensitive things')
    expect([status, json['code']]).toEqual([400, 'sensitive_words_detected'])
    expect((await balanceOf(app, by)).quota).toBe(10_000_000)
  })
})

describe('an upstream that does not take the job', () => {
  const through = async (does: string) => {
    const by = await holder(app)
    const group = `g-${does.replaceAll(/\W/g, '')}`
    const token = await inGroup(by, group)
    await musicChannel(app, { does, group })
    const before = app.upstream.requests.length
    const reply = await withoutRetries(() => compose(token))
    expect((await balanceOf(app, by)).quota).toBe(10_000_000)
    expect(await tasksOf(app, by)).toEqual([])
    return { ...reply, asked: app.upstream.requests.length - before }
  }
  const withoutRetries = async <Value>(run: () => Promise<Value>): Promise<Value> => {
    let value: Value | undefined
    await withOptions(app, { RetryTimes: '0' }, async () => {
      value = await run()
    })
    return value as Value
  }

  test.each([
    ['code=no_credits,message=no credits left', 500, 'no_credits', 'no credits left'],
    ['status=402,message=pay first', 402, 'fail_to_fetch_task', '{"code":"error","message":"pay first","data":null}'],
    ['status=429', 429, 'fail_to_fetch_task', '上游繁忙，请稍后重试'],
    ['malformed', 500, 'unmarshal_response_body_failed', '上游响应格式错误'],
    ['reset', 500, 'do_request_failed', '无法连接上游服务'],
  ])('%s: %i %s', async (does, status, code, message) => {
    const reply = await through(does)
    expect([reply.status, reply.json]).toEqual([status, { code, message, data: null }])
  })

  test.each(['code=no_credits,message=secret words', 'status=500,message=secret words'])(
    'is not quoted where the operator hides what upstreams say: %s',
    async (does) => {
      await withOptions(app, { 'global.hide_upstream_error_enabled': 'true' }, async () => {
        const { status, json } = await through(does)
        expect([status, json['message']]).toEqual([500, 'upstream returned status 500'])
        expect(json['code']).not.toBe('no_credits')
      })
    },
  )

  test('another channel is tried, and one hold serves both', async () => {
    const by = await holder(app)
    const token = await inGroup(by, 'retrying')
    const failing = await musicChannel(app, { does: 'status=500', group: 'retrying', priority: 1 })
    const good = await musicChannel(app, { group: 'retrying' })
    expect((await compose(token)).json).toMatchObject({ code: 'success' })
    const [row] = await logged(app, by, 2)
    expect(row).toMatchObject({
      channel_id: good,
      quota: 50_000,
      other: { admin_info: { use_channel: [String(failing), String(good)] } },
    })
    expect((await balanceOf(app, by)).quota).toBe(9_950_000)
  })

  test.each([
    ['reset', 500, 'do_request_failed'],
    ['malformed', 500, 'unmarshal_response_body_failed'],
  ])('one that may have taken it all the same (%s) is the last that is asked', async (does, status, code) => {
    const by = await holder(app)
    const token = await inGroup(by, `sent-${does}`)
    await musicChannel(app, { does, group: `sent-${does}`, priority: 1 })
    await musicChannel(app, { group: `sent-${does}` })
    const before = app.upstream.requests.length
    expect(await compose(token)).toMatchObject({ status, json: { code } })
    expect(app.upstream.requests).toHaveLength(before + 1)
    expect((await balanceOf(app, by)).quota).toBe(10_000_000)
  })

  test('one that was not reached lets another be tried', async () => {
    const by = await holder(app)
    const token = await inGroup(by, 'unreached')
    await musicChannel(app, { baseUrl: 'http://127.0.0.1:1', group: 'unreached', priority: 1 })
    await musicChannel(app, { group: 'unreached' })
    expect((await compose(token)).json).toMatchObject({ code: 'success' })
  })

  test('a 400 is never tried elsewhere', async () => {
    const by = await holder(app)
    const token = await inGroup(by, 'strict')
    await musicChannel(app, { does: 'status=400,message=bad words', group: 'strict', priority: 1 })
    await musicChannel(app, { group: 'strict' })
    expect(await compose(token)).toMatchObject({ status: 400, json: { code: 'fail_to_fetch_task' } })
  })

  test('a channel of another kind is passed over, and is the last word where it is alone', async () => {
    const by = await holder(app)
    const token = await inGroup(by, 'mixed')
    await musicChannel(app, { type: 1, group: 'mixed', priority: 1 })
    expect(await compose(token)).toMatchObject({ status: 400, json: { code: 'invalid_api_platform' } })
    await musicChannel(app, { group: 'mixed' })
    expect((await compose(token)).json).toMatchObject({ code: 'success' })
  })
})
