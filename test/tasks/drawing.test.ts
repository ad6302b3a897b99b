import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { markPolled } from '#features/tasks/service/update-task.ts'
import { json, type Play, startScriptedUpstream } from '#test/support/scripted-upstream.ts'
import { untilSomebodyWaits } from '#test/support/processes.ts'
import { setOptions, withOptions } from '#test/relay/serve.ts'
import {
  balanceOf,
  call,
  drawingChannel,
  drawingsOf,
  holder,
  imagine,
  imagined,
  logged,
  poll,
  refundsOf,
} from './world.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

const app = await startBalancedApp()
const scripted = await startScriptedUpstream()
afterAll(() => scripted[Symbol.asyncDispose]())
await setOptions(app, { ServerAddress: 'https://gateway.example' })
const channel = await drawingChannel(app)

const lastSent = () => app.upstream.requests.at(-1)

describe('an image', () => {
  test('is charged once when the upstream has taken it: 0.1 dollars, from user and token', async () => {
    const by = await holder(app, { quota: 200_000, remainQuota: 150_000 })
    const { status, json, headers } = await imagine(app, by, 'a cat', { state: 'mine', botType: 'NIJI_JOURNEY' })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('application/json')
    expect(json).toEqual({ code: 1, description: '提交成功', properties: {}, result: expect.stringMatching(/^\d+/) })
    expect(await balanceOf(app, by)).toEqual({ quota: 150_000, used: 50_000, remain: 100_000, tokenUsed: 50_000 })
    const [row] = await logged(app, by, 2)
    expect(row).toMatchObject({
      model_name: 'mj_imagine',
      quota: 50_000,
      channel_id: channel,
      content: `模型固定价格 0.10，分组倍率 1.00，操作 IMAGINE，ID ${String(json['result'])}`,
      other: {
        model_price: 0.1,
        group_ratio: 1,
        task_id: json['result'],
        admin_info: { use_channel: [String(channel)] },
      },
    })
    const [task] = await drawingsOf(app, by)
    expect(task).toMatchObject({
      code: 1,
      action: 'IMAGINE',
      mj_id: json['result'],
      prompt: 'a cat',
      state: 'mine',
      bot_type: 'NIJI_JOURNEY',
      description: '提交成功',
      progress: '0%',
      status: '',
      channel_id: channel,
      token_id: by.token.id,
      quota: '50000',
      charge_pending: false,
    })
    expect(lastSent()).toMatchObject({ path: '/mj/submit/imagine', key: 'mj-secret-key' })
    expect(lastSent()?.headers.authorization).toBeUndefined()
  })

  test('names to its caller, and in the log, what was not sent on', async () => {
    const by = await holder(app)
    const { status, headers } = await imagine(app, by, 'a cat', { route: 'fallback', preset: 'vivid' })
    expect([status, headers.get('x-translation-loss')]).toEqual([200, 'route,preset'])
    expect(lastSent()?.body).not.toHaveProperty('preset')
    expect(await logged(app, by, 2)).toMatchObject([{ other: { losses: ['route', 'preset'] } }])
    expect((await imagine(app, by)).headers.get('x-translation-loss')).toBeNull()
  })

  test('is asked after until it is done, and is never paid back then', async () => {
    const by = await holder(app)
    const id = await imagined(app, by, 'a dog')
    expect((await call(app, by, `GET /mj/task/${id}/fetch`)).json).toMatchObject({
      id,
      action: 'IMAGINE',
      prompt: 'a dog',
      status: '',
      progress: '0%',
      imageUrl: '',
      failReason: '',
      startTime: 0,
      finishTime: 0,
      buttons: [],
    })
    await poll(app)
    expect(lastSent()).toMatchObject({ path: '/mj/task/list-by-condition', key: 'mj-secret-key' })
    const halfway = (await call(app, by, `GET /mj/task/${id}/fetch`)).json
    expect(halfway).toMatchObject({ status: 'IN_PROGRESS', progress: '50%', promptEn: 'a dog (en)' })
    await poll(app)
    const { json } = await call(app, by, `GET /mj/task/${id}/fetch`)
    expect(json).toMatchObject({
      status: 'SUCCESS',
      progress: '100%',
      imageUrl: `https://gateway.example/mj/image/${id}`,
      submitTime: expect.any(Number),
      finishTime: expect.any(Number),
      properties: { finalPrompt: 'a dog', finalZhPrompt: '' },
    })
    expect(json['submitTime']).toBeGreaterThan(1_600_000_000_000)
    expect(json['buttons']).toHaveLength(4)
    const asked = app.upstream.requests.length
    await poll(app)
    expect(app.upstream.requests).toHaveLength(asked)
    expect((await balanceOf(app, by)).quota).toBe(9_950_000)
    expect(await refundsOf(app, by)).toEqual([])
  })

  test('that fails is paid back to user and token, once, and the log says so', async () => {
    const by = await holder(app, { remainQuota: 80_000 })
    const id = await imagined(app, by, 'a cat [[job=failure,polls=1,message=no paint left]]')
    expect(await balanceOf(app, by)).toMatchObject({ quota: 9_950_000, remain: 30_000 })
    await Promise.all([poll(app), poll(app), poll(app)])
    await poll(app)
    expect((await call(app, by, `GET /mj/task/${id}/fetch`)).json).toMatchObject({
      status: 'FAILURE',
      progress: '100%',
      failReason: 'no paint left',
    })
    expect(await balanceOf(app, by)).toEqual({ quota: 10_000_000, used: 50_000, remain: 80_000, tokenUsed: 50_000 })
    expect(await refundsOf(app, by)).toEqual([50_000])
    const rows = await logged(app, by, 4)
    expect(rows.map(({ content }) => content)).toEqual([`绘图任务 ${id} 失败，退回 $0.100000`])
  })

  test('with a reason to fail before the end has failed, though nobody says so', async () => {
    const by = await holder(app)
    const id = await imagined(app, by)
    const job = app.upstream.tasks.get(id)
    if (!job) throw new Error('no such job')
    job.override = { status: 'IN_PROGRESS', progress: '40%', failReason: 'banned' }
    await poll(app)
    expect((await call(app, by, `GET /mj/task/${id}/fetch`)).json).toMatchObject({
      status: 'FAILURE',
      progress: '100%',
    })
    expect(await refundsOf(app, by)).toEqual([50_000])
  })

  test('that takes longer than an hour has failed, unless it is done by then', async () => {
    const by = await holder(app)
    const slow = await imagined(app, by, 'slow [[job=running]]')
    const lost = await imagined(app, by, 'lost [[job=lost]]')
    const late = await imagined(app, by, 'late [[polls=1]]')
    const young = await imagined(app, by, 'young [[job=running]]')
    await app.pool.query("update drawing_tasks set submitted_at = now() - interval '59 minutes' where mj_id = $1", [
      young,
    ])
    await app.pool.query(
      "update drawing_tasks set submitted_at = now() - interval '61 minutes' where mj_id = any ($1)",
      [[slow, lost, late]],
    )
    await poll(app)
    const tasks = new Map((await drawingsOf(app, by)).map((task) => [task.mj_id, task]))
    for (const id of [slow, lost]) {
      expect(tasks.get(id)).toMatchObject({
        status: 'FAILURE',
        progress: '100%',
        fail_reason: '上游任务超过 1 小时未完成',
      })
    }
    expect(tasks.get(late)).toMatchObject({ status: 'SUCCESS' })
    expect(tasks.get(young)).toMatchObject({ status: 'IN_PROGRESS' })
    expect(await refundsOf(app, by)).toEqual([50_000, 50_000])
  })

  test('whose channel has gone, or that has no number, has failed', async () => {
    const by = await holder(app)
    const id = await imagined(app, by)
    await app.pool.query('update drawing_tasks set channel_id = 99999 where mj_id = $1', [id])
    await imagine(app, by, 'x [[blank]]')
    await poll(app)
    const [orphan, nameless] = await drawingsOf(app, by)
    expect(orphan).toMatchObject({ status: 'FAILURE', progress: '100%', fail_reason: '渠道 99999 不存在' })
    expect(nameless).toMatchObject({ mj_id: '', status: 'FAILURE', progress: '100%' })
    expect(await refundsOf(app, by)).toEqual([50_000, 50_000])
  })

  test('keeps waiting while its channel cannot be asked, and while the channel is switched off is asked after still', async () => {
    const by = await holder(app)
    const id = await imagined(app, by, 'patient [[polls=1]]')
    await app.pool.query("update channels set base_url = 'http://127.0.0.1:9' where id = $1", [channel])
    await poll(app)
    expect((await drawingsOf(app, by))[0]).toMatchObject({ status: '', progress: '0%' })
    await app.pool.query('update channels set base_url = $2, status = 2 where id = $1', [channel, app.upstream.url])
    await poll(app)
    expect((await call(app, by, `GET /mj/task/${id}/fetch`)).json).toMatchObject({ status: 'SUCCESS' })
    await app.pool.query('update channels set status = 1 where id = $1', [channel])
    await app.services.channels.reload(channel)
  })
})

test.each([
  ['its prompt', { prompt: '1️⃣ a cat', promptEn: '1️⃣ a cat (en)' }, '1️⃣ a cat'],
  ['the English one where there is no other', { prompt: '', promptEn: '1️⃣ a cat' }, '1️⃣ a cat'],
])('what an image is described as is the prompt of its task: %s', async (_, reported, prompt) => {
  const by = await holder(app)
  const { json } = await call(app, by, 'POST /mj/submit/describe', { base64: 'data:image/png;base64,xx' })
  const id = String(json['result'])
  const job = app.upstream.tasks.get(id)
  if (!job) throw new Error('no such job')
  job.override = { ...reported, status: 'SUCCESS', progress: '100%' }
  await poll(app)
  const fetched = await call(app, by, `GET /mj/task/${id}/fetch`)
  expect(fetched.json).toMatchObject({ action: 'DESCRIBE', status: 'SUCCESS', prompt })
})

test('the prompt that a caller wrote stays, whatever the service makes of it', async () => {
  const by = await holder(app)
  const id = await imagined(app, by, 'a dog')
  const job = app.upstream.tasks.get(id)
  if (!job) throw new Error('no such job')
  job.override = { prompt: 'a dog --v 7' }
  await poll(app)
  expect((await call(app, by, `GET /mj/task/${id}/fetch`)).json).toMatchObject({ prompt: 'a dog' })
})

describe('the upstream answers', () => {
  const answered = async (code: number, more = '') => {
    const by = await holder(app)
    const reply = await imagine(app, by, `a cat [[mjcode=${code}${more}]]`)
    const [task] = await drawingsOf(app, by)
    const { quota, used } = await balanceOf(app, by)
    return { by, ...reply, task, taken: 10_000_000 - quota, used }
  }

  test('21: the image exists, is charged, and is reported as accepted', async () => {
    const { json, task, taken } = await answered(21)
    expect(json).toMatchObject({ code: 1, properties: { status: 'SUCCESS' } })
    expect(taken).toBe(50_000)
    expect(task).toMatchObject({ code: 21, status: 'SUCCESS', progress: '100%', quota: '50000' })
    expect(task?.['image_url']).toContain('/media/pixel.png')
    expect(task?.['finished_at']).toBeTruthy()
  })

  test('21 of one that is still drawn: stored as it stands', async () => {
    const { task } = await answered(21, ',job=running')
    expect(task).toMatchObject({ code: 21, status: 'IN_PROGRESS', progress: '0%' })
  })

  test('22: queued, charged, and reported as accepted', async () => {
    const { json, task, taken } = await answered(22)
    expect(json).toMatchObject({ code: 1, properties: { numberOfQueues: 1 } })
    expect(taken).toBe(50_000)
    expect(task).toMatchObject({ code: 22, quota: '50000' })
  })

  test.each([
    [23, '队列已满，请稍后尝试'],
    [24, '可能包含敏感词'],
    [3, '无可用的账号实例'],
    [4, '参数错误'],
    [5, '未知错误'],
  ])('%i: not charged, stored with the reason, passed on as it is', async (code, reason) => {
    const { by, status, json, task, taken, used } = await answered(code)
    expect(status).toBe(200)
    expect(json).toMatchObject({ code, description: reason })
    expect([taken, used]).toEqual([0, 0])
    expect(task).toMatchObject({ code, fail_reason: reason, quota: '0', progress: '0%', status: '' })
    expect(await logged(app, by, 2)).toEqual([])
    await poll(app)
    expect((await drawingsOf(app, by))[0]).toMatchObject({ status: 'FAILURE', progress: '100%', fail_reason: reason })
    expect(await refundsOf(app, by)).toEqual([])
  })

  test('30: busy, which is a 429 with words of ours', async () => {
    const { status, json, task, taken } = await answered(30)
    expect(status).toBe(429)
    expect(json).toEqual({
      description: '实例繁忙 渠道繁忙，请稍后重试',
      type: 'upstream_error',
      code: 30,
    })
    expect(taken).toBe(0)
    expect(task).toMatchObject({ code: 30, quota: '0' })
  })

  test.each([
    ['reset', 'do_request_failed'],
    ['empty', 'empty_response_body'],
    ['html', 'unmarshal_response_body_failed'],
    ['malformed', 'unmarshal_response_body_failed'],
  ])('%s: nothing is charged or stored, and the caller is answered %s', async (does, word) => {
    const by = await holder(app)
    await drawingChannel(app, { models: 'mj_shorten', does, group: `g-${does}` })
    await setOptions(app, {
      UserUsableGroups: JSON.stringify({ default: '', [`g-${does}`]: '' }),
      GroupRatio: JSON.stringify({ default: 1, [`g-${does}`]: 1 }),
    })
    const token = await app.make.token(by.user, { group: `g-${does}` })
    const { status, json } = await call(app, token, 'POST /mj/submit/shorten', { prompt: 'x' })
    expect([status, json]).toEqual([400, { description: word, type: 'upstream_error', code: 5 }])
    expect(await drawingsOf(app, by)).toEqual([])
    expect((await balanceOf(app, by)).quota).toBe(10_000_000)
  })

  test('an error status: passed on with its body, stored, not charged, never tried elsewhere', async () => {
    const by = await holder(app)
    const group = 'erring'
    await drawingChannel(app, { models: 'mj_shorten', does: 'status=500,message=out of order', group })
    await drawingChannel(app, { models: 'mj_shorten', group, priority: -1 })
    await setOptions(app, {
      UserUsableGroups: JSON.stringify({ default: '', [group]: '' }),
      GroupRatio: JSON.stringify({ default: 1, [group]: 1 }),
    })
    const before = app.upstream.requests.length
    const token = await app.make.token(by.user, { group })
    const { status, json } = await call(app, token, 'POST /mj/submit/shorten', { prompt: 'x' })
    expect([status, json]).toEqual([500, { code: 4, description: 'out of order' }])
    expect(app.upstream.requests).toHaveLength(before + 1)
    expect((await drawingsOf(app, by))[0]).toMatchObject({ code: 4, quota: '0', fail_reason: 'out of order' })
    expect((await balanceOf(app, by)).quota).toBe(10_000_000)
  })

  const submitted = async (group: string, play: Play) => {
    const by = await holder(app)
    const baseUrl = scripted.play((path) => (path.includes('/submit/') ? play : json([])))
    await drawingChannel(app, { models: 'mj_imagine', baseUrl, group })
    await setOptions(app, {
      UserUsableGroups: JSON.stringify({ default: '', [group]: '' }),
      GroupRatio: JSON.stringify({ default: 1, [group]: 1 }),
    })
    const token = await app.make.token(by.user, { group })
    const reply = await call(app, token, 'POST /mj/submit/imagine', { prompt: 'x' })
    const { quota } = await balanceOf(app, by)
    return { ...reply, task: (await drawingsOf(app, by))[0], taken: 10_000_000 - quota }
  }
  const accepting = json({ code: 1, description: 'Submit success', result: 'A7' })

  test.each([201, 202])('1 with status %i: accepted and charged', async (status) => {
    const made = await submitted(`accepting-${status}`, { ...accepting, status })
    expect(made).toMatchObject({ status, json: { code: 1, result: 'A7' }, taken: 50_000 })
    expect(made.task).toMatchObject({ code: 1, quota: '50000', mj_id: 'A7' })
  })

  test.each([400, 500])('1 with status %i: a failure, not charged, without the number of a task', async (status) => {
    const made = await submitted(`refusing-${status}`, { ...accepting, status })
    const description = `upstream status ${status}`
    expect(made).toMatchObject({ status, taken: 0 })
    expect(made.json).toEqual({ code: 5, description })
    expect(made.task).toMatchObject({ code: 5, quota: '0', mj_id: '', fail_reason: description })
  })

  test('3 switches the channel off, where the site and the channel let it', async () => {
    const group = 'empty'
    const by = await holder(app)
    await setOptions(app, {
      UserUsableGroups: JSON.stringify({ default: '', [group]: '' }),
      GroupRatio: JSON.stringify({ default: 1, [group]: 1 }),
    })
    const token = await app.make.token(by.user, { group })
    const own = await drawingChannel(app, { models: 'mj_shorten', does: 'mjcode=3', group })
    const statusOf = async () =>
      (await app.pool.query('select status, status_reason from channels where id = $1', [own])).rows[0]
    await call(app, token, 'POST /mj/submit/shorten', { prompt: 'x' })
    expect(await statusOf()).toMatchObject({ status: 1 })
    await withOptions(app, { AutomaticDisableChannelEnabled: 'true' }, async () => {
      await app.pool.query('insert into channel_keys (channel_id, position, key_hmac) values ($1, 0, $2)', [
        own,
        app.services.secrets.hmac('mj-secret-key'),
      ])
      await call(app, token, 'POST /mj/submit/shorten', { prompt: 'x' })
      await expect.poll(statusOf).toMatchObject({ status: 3, status_reason: 'no account available' })
    })
  })
})

test('rounds that overlap lock what they mark in one order', async () => {
  const by = await holder(app)
  for (let n = 0; n < 2; n++) await imagined(app, by)
  const [first, second] = (await drawingsOf(app, by)).map(({ id }) => ({ id }))
  if (!first || !second) throw new Error('not stored')
  // Its row then lies behind the other's, in a table that is read from end to end.
  await app.pool.query('update drawing_tasks set prompt = $2 where id = $1', [first.id, 'moved'])
  await app.pool.query('analyze drawing_tasks')
  const other = await app.pool.connect()
  onTestFinished(() => other.release(true))
  await other.query('begin')
  await other.query('select from drawing_tasks where id = $1 for update', [first.id])
  const marked = markPolled(app.services, 'drawing_tasks', [second, first])
  await untilSomebodyWaits(app.pool)
  await other.query('select from drawing_tasks where id = $1 for update nowait', [second.id])
  await other.query('commit')
  await marked
})
