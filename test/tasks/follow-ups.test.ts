import { describe, expect, test } from 'vitest'
import { setOptions, withOptions } from '#test/relay/serve.ts'
import { balanceOf, call, drawingChannel, drawingsOf, holder, type Holder, imagined, poll } from './world.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

const app = await startBalancedApp()
await drawingChannel(app)

const finish = async () => {
  await poll(app)
  await poll(app)
}
const done = async (by: Holder, prompt = 'a cat'): Promise<string> => {
  const id = await imagined(app, by, prompt)
  await finish()
  return id
}
const refusal = (description: string) => ({ description, type: 'upstream_error', code: 4 })
const lastSent = () => app.upstream.requests.at(-1)

describe('what follows an image', () => {
  test.each([
    ['change', { action: 'UPSCALE', index: 2 }, 'UPSCALE', 25_000],
    ['change', { action: 'VARIATION', index: 4 }, 'VARIATION', 50_000],
    ['change', { action: 'REROLL' }, 'REROLL', 50_000],
    ['action', { customId: 'MJ::JOB::upsample::3::abc' }, 'UPSCALE', 25_000],
    ['action', { customId: 'MJ::JOB::variation::1::abc' }, 'VARIATION', 50_000],
    ['action', { customId: 'MJ::JOB::low_variation::1::abc::SOLO' }, 'LOW_VARIATION', 50_000],
    ['action', { customId: 'MJ::JOB::high_variation::1::abc::SOLO' }, 'HIGH_VARIATION', 50_000],
    ['action', { customId: 'MJ::JOB::pan_left::1::abc::SOLO' }, 'PAN', 50_000],
    ['action', { customId: 'MJ::JOB::reroll::0::abc::SOLO' }, 'REROLL', 50_000],
    ['action', { customId: 'MJ::Outpaint::50::1::abc::SOLO' }, 'ZOOM', 50_000],
    ['action', { customId: 'MJ::JOB::animate_high::1::abc' }, 'VIDEO', 400_000],
  ])('%s %j is charged as %s and carries its prompt', async (submission, body, action, quota) => {
    const by = await holder(app)
    const taskId = await done(by, `prompt of ${action}`)
    const { json } = await call(app, by, `POST /mj/submit/${submission}`, { taskId, ...body })
    expect(json).toMatchObject({ code: 1 })
    expect(lastSent()).toMatchObject({ path: `/mj/submit/${submission}`, body: { taskId, ...body } })
    const [, task] = await drawingsOf(app, by)
    expect(task).toMatchObject({ action, prompt: `prompt of ${action}`, quota: String(quota) })
    expect((await balanceOf(app, by)).quota).toBe(10_000_000 - 50_000 - quota)
  })

  test('a simple change names task and button in one line', async () => {
    const by = await holder(app)
    const taskId = await done(by)
    const { json } = await call(app, by, 'POST /mj/submit/simple-change', { content: `${taskId} U2` })
    expect(json).toMatchObject({ code: 1 })
    expect((await drawingsOf(app, by))[1]).toMatchObject({ action: 'UPSCALE', quota: '25000' })
    await call(app, by, 'POST /mj/submit/simple-change', { content: `${taskId} R` })
    expect((await drawingsOf(app, by))[2]).toMatchObject({ action: 'REROLL' })
  })

  test.each([
    ['INPAINT', 'MJ::Inpaint::1::abc::SOLO'],
    ['CUSTOM_ZOOM', 'MJ::CustomZoom::abc'],
  ])('%s only opens a dialogue: free, answered with 21, and paid as MODAL', async (action, customId) => {
    const by = await holder(app)
    const taskId = await done(by)
    const opened = await call(app, by, 'POST /mj/submit/action', { taskId, customId })
    expect(opened.json).toMatchObject({ code: 21 })
    expect((await drawingsOf(app, by))[1]).toMatchObject({ action, code: 21, quota: '0' })
    expect((await balanceOf(app, by)).quota).toBe(9_950_000)
    const modal = { taskId: opened.json['result'], prompt: 'with a hat', maskBase64: 'x' }
    expect((await call(app, by, 'POST /mj/submit/modal', modal)).json).toMatchObject({ code: 1 })
    expect((await drawingsOf(app, by))[2]).toMatchObject({ action: 'MODAL', quota: '50000' })
    expect((await balanceOf(app, by)).quota).toBe(9_900_000)
  })

  test('goes to the channel and key of the image, though others would be chosen', async () => {
    const by = await holder(app)
    const group = 'follow'
    await setOptions(app, {
      UserUsableGroups: JSON.stringify({ default: '', [group]: '' }),
      GroupRatio: JSON.stringify({ default: 1, [group]: 1 }),
    })
    const token = await app.make.token(by.user, { group })
    const keys = { key: 'first-key-of-two,second-key-of-two' }
    const channel = await drawingChannel(app, { group, models: 'mj_imagine', ...keys })
    const first = await call(app, token, 'POST /mj/submit/imagine', { prompt: 'x' })
    const keyOfFirst = lastSent()?.key
    await finish()
    await drawingChannel(app, { group, priority: 100, key: 'other-key' })
    for (let turn = 0; turn < 3; turn += 1) {
      const body = { taskId: first.json['result'], action: 'UPSCALE', index: 1 }
      expect((await call(app, token, 'POST /mj/submit/change', body)).json).toMatchObject({ code: 1 })
      expect(lastSent()?.key).toBe(keyOfFirst)
    }
    expect((await drawingsOf(app, by)).map((task) => task['channel_id'])).toEqual([channel, channel, channel, channel])
    const follow = () =>
      call(app, token, 'POST /mj/submit/change', { taskId: first.json['result'], action: 'UPSCALE', index: 1 })
    await app.pool.query('update channels set status = 2 where id = $1', [channel])
    await app.services.channels.reload(channel)
    expect((await follow()).json).toEqual(refusal('原任务的渠道未启用'))
    await app.pool.query('update drawing_tasks set channel_id = 99999 where user_id = $1', [by.user.id])
    expect((await follow()).json).toEqual(refusal('get_channel_info_failed'))
  })

  test('that the service has forgotten is refused, and leaves the channel to others', async () => {
    const by = await holder(app)
    const group = 'forgotten'
    await setOptions(app, {
      UserUsableGroups: JSON.stringify({ default: '', [group]: '' }),
      GroupRatio: JSON.stringify({ default: 1, [group]: 1 }),
    })
    const token = await app.make.token(by.user, { group })
    const channel = await drawingChannel(app, { group })
    const first = await call(app, token, 'POST /mj/submit/imagine', { prompt: 'x' })
    await finish()
    const baseUrl = app.upstream.withDirectives('mjcode=3,message=关联任务不存在或已失效')
    await app.pool.query('update channels set base_url = $2 where id = $1', [channel, baseUrl])
    await app.pool.query('insert into channel_keys (channel_id, position, key_hmac) values ($1, 0, $2)', [
      channel,
      app.services.secrets.hmac('mj-secret-key'),
    ])
    await app.services.channels.reload(channel)
    await withOptions(app, { AutomaticDisableChannelEnabled: 'true' }, async () => {
      const body = { taskId: first.json['result'], action: 'UPSCALE', index: 1 }
      expect((await call(app, token, 'POST /mj/submit/change', body)).json).toMatchObject({ code: 3 })
      const { rows } = await app.pool.query('select status from channels where id = $1', [channel])
      expect(rows).toEqual([{ status: 1 }])
      expect((await drawingsOf(app, by)).map(({ quota }) => quota)).toEqual(['50000', '0'])
    })
  })

  test('waits for the image to be done, unless the site does not mind, or it is a modal', async () => {
    const by = await holder(app)
    const taskId = await imagined(app, by)
    const change = () => call(app, by, 'POST /mj/submit/change', { taskId, action: 'UPSCALE', index: 1 })
    const { status, json } = await change()
    expect([status, json]).toEqual([400, refusal('task_status_not_success')])
    expect((await call(app, by, 'POST /mj/submit/modal', { taskId })).json).toMatchObject({ code: 1 })
    await withOptions(app, { MjActionCheckSuccessEnabled: 'false' }, async () => {
      expect((await change()).json).toMatchObject({ code: 1 })
    })
  })

  test('knows the caller’s own images only', async () => {
    const by = await holder(app)
    const other = await holder(app, { role: 10 })
    const taskId = await done(other)
    for (const [submission, body] of [
      ['change', { taskId, action: 'UPSCALE', index: 1 }],
      ['simple-change', { content: `${taskId} U1` }],
      ['action', { taskId, customId: 'MJ::JOB::upsample::1::abc' }],
      ['modal', { taskId }],
    ] as const) {
      const { status, json } = await call(app, by, `POST /mj/submit/${submission}`, body)
      expect([status, json]).toEqual([400, refusal('task_not_found')])
    }
    expect(await call(app, by, `GET /mj/task/${taskId}/fetch`)).toMatchObject({
      status: 400,
      json: refusal('task_no_found'),
    })
    expect((await call(app, by, 'POST /mj/task/list-by-condition', { ids: [taskId] })).text).toBe('[]')
    expect(await call(app, by, `GET /mj/task/${taskId}/image-seed`)).toMatchObject({
      status: 400,
      json: refusal('task_no_found'),
    })
    expect((await balanceOf(app, by)).quota).toBe(10_000_000)
  })
})

describe('a request that is not whole', () => {
  test.each([
    ['imagine', {}, 'prompt_is_required'],
    ['change', { action: 'UPSCALE', index: 1 }, 'task_id_is_required'],
    ['change', { taskId: '1', action: 'UPSCALE' }, 'index_is_required'],
    ['change', { taskId: '1', action: 'VARIATION', index: 5 }, 'index_is_required'],
    ['action', { customId: 'MJ::JOB::upsample::1::abc' }, 'task_id_is_required'],
    ['modal', { prompt: 'x' }, 'task_id_is_required'],
  ])('%s %j: %s', async (submission, body, word) => {
    const { status, json } = await call(app, await holder(app), `POST /mj/submit/${submission}`, body)
    expect([status, json]).toEqual([400, refusal(word)])
  })

  test('swapping faces wants both', async () => {
    const { status, json } = await call(app, await holder(app), 'POST /mj/insight-face/swap', { sourceBase64: 'x' })
    expect([status, json]).toEqual([400, refusal('sour_base64_and_target_base64_is_required')])
  })

  test.each([
    ['change', { taskId: '1' }, 'action_is_required'],
    ['change', { taskId: '1', action: 'FRY' }, 'unknown_action'],
    ['simple-change', {}, 'content_is_required'],
    ['simple-change', { content: '1' }, 'content_parse_failed'],
    ['simple-change', { content: '1 U5' }, 'content_parse_failed'],
    ['action', { taskId: '1' }, 'custom_id_is_required'],
    ['action', { taskId: '1', customId: 'MJ' }, 'unknown_action'],
    ['action', { taskId: '1', customId: 'MJ::JOB' }, 'unknown_action'],
    ['action', { taskId: '1', customId: 'MJ::JOB::upsample' }, 'index_parse_failed'],
    ['action', { taskId: '1', customId: 'MJ::JOB::variation::x' }, 'index_parse_failed'],
    ['action', { taskId: '1', customId: 'MJ::JOB::fry::1' }, 'unknown_action:MJ::JOB::fry::1'],
    ['imagine', 'no json', 'bind_request_body_failed'],
    ['imagine', [], 'bind_request_body_failed'],
  ])(
    'of which no model can be told is refused before a channel is looked for: %s %j',
    async (submission, body, word) => {
      const { status, json } = await call(app, await holder(app), `POST /mj/submit/${submission}`, body)
      expect(status).toBe(400)
      expect(json).toMatchObject(refusal(word))
      const { message } = json['error'] as { message: string }
      expect(message).toMatch(/^请求无法解析: .* \(request id: \w+\)$/)
      if (typeof body === 'object' && !Array.isArray(body)) expect(message).toContain(word)
    },
  )

  test('an action that nobody knows is refused', async () => {
    const { status, json } = await call(app, await holder(app), 'POST /mj/submit/fry', { prompt: 'x' })
    expect([status, json]).toEqual([400, refusal('unknown_relay_action')])
  })
})

describe('further submissions', () => {
  test.each([
    ['describe', { base64: 'data:image/png;base64,xx' }, 'DESCRIBE', 25_000],
    ['blend', { base64Array: ['a', 'b'], dimensions: 'SQUARE' }, 'BLEND', 50_000],
    ['shorten', { prompt: 'long' }, 'SHORTEN', 50_000],
    ['video', { prompt: 'x', image: 'y' }, 'VIDEO', 400_000],
    ['edits', { prompt: 'x', image: 'y' }, 'EDITS', 50_000],
  ])('%s is %3$i units of %s', async (submission, body, action, quota) => {
    const by = await holder(app)
    expect((await call(app, by, `POST /mj/submit/${submission}`, body)).json).toMatchObject({ code: 1 })
    expect(lastSent()).toMatchObject({ path: `/mj/submit/${submission}`, body })
    expect((await drawingsOf(app, by))[0]).toMatchObject({ action, quota: String(quota) })
    expect((await balanceOf(app, by)).quota).toBe(10_000_000 - quota)
  })

  test('images handed in are done at once, and are served by an id of ours', async () => {
    const by = await holder(app)
    const { json } = await call(app, by, 'POST /mj/submit/upload-discord-images', { base64Array: ['x'] })
    expect(json).toMatchObject({ code: 1, result: [expect.stringContaining('/media/pixel.png')] })
    const [task] = await drawingsOf(app, by)
    expect(task).toMatchObject({ action: 'UPLOAD', status: 'SUCCESS', progress: '100%', quota: '25000' })
    const imageFile = await fetch(`${app.url}/mj/image/${task?.mj_id}`)
    expect([imageFile.status, imageFile.headers.get('content-type')]).toEqual([200, 'image/png'])
  })

  test('swapped faces are charged for code 1 alone', async () => {
    const by = await holder(app)
    const faces = { sourceBase64: 'a', targetBase64: 'b' }
    expect((await call(app, by, 'POST /mj/insight-face/swap', faces)).json).toMatchObject({ code: 1 })
    expect(lastSent()?.path).toBe('/mj/insight-face/swap')
    expect((await balanceOf(app, by)).quota).toBe(9_975_000)
    const queued = { ...faces, prompt: '[[mjcode=22]]' }
    expect((await call(app, by, 'POST /mj/insight-face/swap', queued)).json).toMatchObject({ code: 22 })
    expect((await balanceOf(app, by)).quota).toBe(9_975_000)
    expect((await drawingsOf(app, by)).map(({ quota }) => quota)).toEqual(['25000', '0'])
  })

  test('the seed of an image is asked of its channel', async () => {
    const by = await holder(app)
    const id = await done(by)
    const { status, json } = await call(app, by, `GET /mj/task/${id}/image-seed`)
    expect([status, json]).toEqual([200, { code: 1, description: '成功', result: '3302135087' }])
    expect(lastSent()).toMatchObject({ method: 'GET', path: `/mj/task/${id}/image-seed`, key: 'mj-secret-key' })
    expect((await balanceOf(app, by)).quota).toBe(9_950_000)
  })

  test('several tasks come as a list, without those that are not there', async () => {
    const by = await holder(app)
    const ids = [await imagined(app, by, 'one'), await imagined(app, by, 'two')]
    const { status, text } = await call(app, by, 'POST /mj/task/list-by-condition', { ids: [...ids, 'nobody'] })
    const list = JSON.parse(text) as { id: string; prompt: string }[]
    expect([status, list.map(({ id, prompt }) => [id, prompt])]).toEqual([
      200,
      [
        [ids[0], 'one'],
        [ids[1], 'two'],
      ],
    ])
    expect((await call(app, by, 'POST /mj/task/list-by-condition', { ids: [] })).text).toBe('[]')
    expect((await call(app, by, 'POST /mj/task/list-by-condition', {})).text).toBe('[]')
  })
})
