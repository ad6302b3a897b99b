import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { setOptions, withOptions } from '#test/relay/serve.ts'
import {
  balanceOf,
  call,
  drawingChannel,
  drawingModels,
  drawingsOf,
  holder,
  imagine,
  imagined,
  logged,
  poll,
  refundsOf,
} from './world.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import { listenLocally } from '#test/support/local-server.ts'

const app = await startBalancedApp()
await setOptions(app, { ServerAddress: 'https://gateway.example/' })
await drawingChannel(app)

const lastSent = () => app.upstream.requests.at(-1)
const sentBody = () => lastSent()?.body as Record<string, unknown>

describe('what a drawing costs', () => {
  test('is the table’s price, the built-in one where the table has none, and 0.1 dollars for what nobody has priced', async () => {
    const by = await holder(app)
    await withOptions(app, { ModelPrice: JSON.stringify({ mj_imagine: 0.25 }) }, async () => {
      await imagined(app, by)
      expect((await balanceOf(app, by)).quota).toBe(9_875_000)
      await call(app, by, 'POST /mj/submit/describe', { base64: 'x' })
      expect((await balanceOf(app, by)).quota).toBe(9_850_000)
    })
  })

  test('is multiplied by the group’s ratio and rounded down', async () => {
    const by = await holder(app)
    await withOptions(app, { GroupRatio: JSON.stringify({ default: 0.33333 }) }, async () => {
      await imagined(app, by)
      expect((await drawingsOf(app, by))[0]).toMatchObject({ quota: '16666' })
      expect((await balanceOf(app, by)).quota).toBe(10_000_000 - 16_666)
    })
  })

  test('has its own price by lane where one is set, and else the price of the action', async () => {
    const by = await holder(app)
    const prices = { mj_imagine: 0.1, mj_turbo_imagine: 0.3, mj_relax_imagine: 0.02 }
    const costs: Record<string, number> = {}
    await withOptions(app, { ModelPrice: JSON.stringify(prices) }, async () => {
      for (const base of ['/mj', '/mj-fast/mj', '/mj-relax/mj', '/mj-turbo/mj']) {
        const before = (await balanceOf(app, by)).quota
        const { json } = await call(app, by, `POST ${base}/submit/imagine`, { prompt: 'x' })
        expect(json).toMatchObject({ code: 1 })
        expect(lastSent()?.path).toBe('/mj/submit/imagine')
        costs[base] = before - (await balanceOf(app, by)).quota
      }
    })
    expect(costs).toEqual({ '/mj': 50_000, '/mj-fast/mj': 50_000, '/mj-relax/mj': 10_000, '/mj-turbo/mj': 150_000 })
    expect((await drawingsOf(app, by)).map((task) => task['mode'])).toEqual(['', 'fast', 'relax', 'turbo'])
    const [id] = (await drawingsOf(app, by)).map((task) => task.mj_id)
    expect((await call(app, by, `GET /mj-turbo/mj/task/${id}/fetch`)).json).toMatchObject({ id })
  })

  test('nobody who cannot pay it is let through, nor a limited token, and the upstream is not asked', async () => {
    const before = app.upstream.requests.length
    const refused = {
      status: 400,
      json: { description: 'quota_not_enough', type: 'upstream_error', code: 4 },
    }
    expect(await imagine(app, await holder(app, { quota: 49_999 }))).toMatchObject(refused)
    expect(await imagine(app, await holder(app, { quota: 0 }))).toMatchObject(refused)
    expect(await imagine(app, await holder(app, { remainQuota: 49_999 }))).toMatchObject(refused)
    expect(app.upstream.requests).toHaveLength(before)
    const exact = await holder(app, { quota: 50_000, remainQuota: 50_000 })
    expect((await imagine(app, exact)).json).toMatchObject({ code: 1 })
    expect(await balanceOf(app, exact)).toMatchObject({ quota: 0, remain: 0 })
  })

  test('a dialogue needs no balance', async () => {
    const by = await holder(app, { quota: 50_000 })
    const taskId = await imagined(app, by)
    await poll(app)
    await poll(app)
    const body = { taskId, customId: 'MJ::Inpaint::1::abc::SOLO' }
    expect((await call(app, by, 'POST /mj/submit/action', body)).json).toMatchObject({ code: 21 })
    expect((await call(app, by, 'POST /mj/submit/modal', { taskId, prompt: 'x' })).json).toMatchObject({
      description: 'quota_not_enough',
    })
  })

  test('many at once take no more than there is', async () => {
    const by = await holder(app, { quota: 150_000 })
    const replies = await Promise.all(Array.from({ length: 8 }, () => imagine(app, by)))
    expect(replies.filter(({ json }) => json['code'] === 1)).toHaveLength(3)
    expect(await balanceOf(app, by)).toMatchObject({ quota: 0, used: 150_000 })
  })

  test('is taken also where consumption is not logged', async () => {
    const by = await holder(app)
    await withOptions(app, { LogConsumeEnabled: 'false' }, async () => {
      await imagined(app, by, 'x [[job=failure,polls=1]]')
      expect((await balanceOf(app, by)).quota).toBe(9_950_000)
      await poll(app)
    })
    expect(await logged(app, by, 2)).toEqual([])
    expect(await refundsOf(app, by)).toEqual([50_000])
    // The ledger of this app is compared with its log rows.
    await app.pool.query('update users set used_quota = 0 where id = $1', [by.user.id])
    await app.pool.query('update tokens set used_quota = 0 where user_id = $1', [by.user.id])
    await app.pool.query('delete from grants where user_id = $1 and kind = $2', [by.user.id, 'refund'])
    await app.pool.query('delete from usage_hourly where user_id = $1', [by.user.id])
    await app.pool.query('update channels set used_quota = used_quota - 50000')
  })
})

describe('what is sent upstream', () => {
  const given = { accountFilter: { modes: ['RELAX'] }, notifyHook: 'https://caller.example/hook', state: 's' }

  test('leaves out account filter and notice address, unless the site lets them through', async () => {
    const by = await holder(app)
    await imagine(app, by, 'a cat --fast --ar 1:1', given)
    expect(sentBody()).toEqual({ prompt: 'a cat --fast --ar 1:1', state: 's' })
    await withOptions(app, { MjAccountFilterEnabled: 'true', MjNotifyEnabled: 'true' }, async () => {
      await imagine(app, by, 'x', given)
      expect(sentBody()).toEqual({ prompt: 'x', ...given })
    })
  })

  test('loses the lane in its prompt where the site wants that', async () => {
    const by = await holder(app)
    await withOptions(app, { MjModeClearEnabled: 'true' }, async () => {
      await imagine(app, by, 'a cat --fast --ar 1:1 --relax --turbo --fasten')
      expect(sentBody()).toEqual({ prompt: 'a cat --ar 1:1 --fasten' })
    })
  })

  test('carries no sensitive words', async () => {
    const by = await holder(app)
    const before = app.upstream.requests.length
    const { status, json } = await imagine(app, by, 'TEST_sensitive')
    expect(status).toBe(400)
    expect(json).toMatchObject({
      description: 'sensitive_words_detected the request contains sensitive words',
      type: 'upstream_error',
      code: 24,
      error: { code: 'sensitive_words_detected' },
    })
    expect(app.upstream.requests).toHaveLength(before)
    expect((await balanceOf(app, by)).quota).toBe(10_000_000)
    await withOptions(app, { CheckSensitiveEnabled: 'false' }, async () => {
      expect((await imagine(app, by, 'test_sensitive')).json).toMatchObject({ code: 1 })
    })
  })

  test('reaches channels that list handing in under its other name', async () => {
    const by = await holder(app)
    expect(drawingModels.split(',')).toContain('mj_uploads')
    expect(drawingModels.split(',')).not.toContain('mj_upload')
    const limited = await app.make.token(by.user, { modelLimits: 'mj_upload' })
    const { json } = await call(app, limited, 'POST /mj/submit/upload-discord-images', { base64Array: ['x'] })
    expect(json).toMatchObject({ code: 1 })
  })
})

describe('who is let in', () => {
  const wrong = { description: expect.any(String), type: 'upstream_error', code: 4 }

  test('nobody without a key, in both forms of a refusal', async () => {
    for (const request of [
      'POST /mj/submit/imagine',
      'POST /mj/insight-face/swap',
      'POST /mj/notify',
      'POST /mj/task/list-by-condition',
      'GET /mj/task/1/fetch',
      'GET /mj/task/1/image-seed',
      'POST /mj-fast/mj/submit/imagine',
    ]) {
      const { status, json } = await call(app, '', request, request.startsWith('POST') ? {} : undefined)
      expect([request, status]).toEqual([request, 401])
      expect(json).toMatchObject({
        ...wrong,
        error: { message: expect.stringMatching(/^缺少访问令牌 \(request id: \w+\)$/), type: 'gateway_error' },
      })
    }
  })

  test('a key in the drawing clients’ own header', async () => {
    const by = await holder(app)
    const ways: Record<string, string>[] = [
      { 'mj-api-secret': `sk-${by.token.key}` },
      { 'mj-api-secret': `Bearer sk-${by.token.key}`, authorization: 'midjourney-proxy' },
    ]
    for (const headers of ways) {
      const reply = await fetch(`${app.url}/mj/submit/imagine`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ prompt: 'x' }),
      })
      expect(await reply.json()).toMatchObject({ code: 1 })
    }
  })

  test('by the order of the checks: address, readable request, group, model, channel', async () => {
    const by = await holder(app)
    const token = await app.make.token(by.user, { allowIps: '10.1.2.3', group: 'nowhere', modelLimits: '' })
    const change = async (columns: string) => {
      await app.pool.query(`update tokens set ${columns} where id = $1`, [token.id])
      app.services.tokens.drop(token.id)
    }
    const refused = async (body: unknown = 'no json') => {
      const { status, json } = await call(app, token, 'POST /mj/submit/change', body)
      const { message } = json['error'] as { message: string }
      return [status, message.slice(0, message.indexOf(' (request id'))]
    }
    expect(await refused()).toEqual([403, '当前 IP 不在该令牌的白名单内'])
    await change("allow_ips = ''")
    expect((await refused())[0]).toBe(400)
    const body = { taskId: '1', action: 'UPSCALE', index: 1 }
    expect(await refused(body)).toEqual([403, '令牌所属分组 nowhere 不可用'])
    await change(`"group" = ''`)
    expect(await refused(body)).toEqual([403, '令牌未允许任何模型'])
    await change("model_limits = 'mj_imagine'")
    expect(await refused(body)).toEqual([403, '令牌无权使用模型 mj_upscale'])
    await change("model_limits = 'mj_upscale'")
    expect((await call(app, token, 'POST /mj/submit/change', body)).json).toMatchObject({
      description: 'task_not_found',
    })
    await setOptions(app, {
      UserUsableGroups: JSON.stringify({ default: '', lonely: '' }),
      GroupRatio: JSON.stringify({ default: 1, lonely: 1 }),
    })
    const elsewhere = await app.make.token(by.user, { group: 'lonely' })
    expect(await call(app, elsewhere, 'POST /mj/submit/imagine', { prompt: 'x' })).toMatchObject({
      status: 503,
      json: { error: { code: 'model_not_found' } },
    })
  })

  test('a token’s own limit counts every route', async () => {
    const by = await holder(app)
    const token = await app.make.token(by.user, { rateLimit: { period: 3600, count: 2, success: 10 } })
    const statuses = []
    for (let turn = 0; turn < 3; turn += 1)
      statuses.push((await call(app, token, 'POST /mj/task/list-by-condition', { ids: [] })).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('any web page, without cookies', async () => {
    const reply = await fetch(`${app.url}/mj/submit/imagine`, { method: 'OPTIONS' })
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(reply.headers.get('access-control-allow-credentials')).toBeNull()
  })
})

describe('a notice', () => {
  test('is not believed: it only makes the channel be asked', async () => {
    const by = await holder(app)
    const id = await imagined(app, by, 'x [[job=running,percent=40]]')
    const lie = { id, status: 'FAILURE', progress: '100%', failReason: 'give it back' }
    const replies = await Promise.all(Array.from({ length: 20 }, () => call(app, by, 'POST /mj/notify', lie)))
    expect(replies.map(({ status, text }) => [status, text])).toEqual(Array(20).fill([200, '']))
    const asked = app.upstream.requests.filter(
      ({ path, body }) => path.endsWith('list-by-condition') && JSON.stringify(body).includes(id),
    )
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.length).toBeLessThan(20)
    expect((await drawingsOf(app, by))[0]).toMatchObject({ status: 'IN_PROGRESS', progress: '40%', fail_reason: '' })
    expect(await refundsOf(app, by)).toEqual([])
  })

  test('of a failure that is one pays back once, though many come while the rounds go on', async () => {
    const by = await holder(app)
    const id = await imagined(app, by, 'x [[job=failure,polls=1]]')
    await Promise.all([
      ...Array.from({ length: 10 }, () => call(app, by, 'POST /mj/notify', { id })),
      ...Array.from({ length: 5 }, () => poll(app)),
    ])
    expect((await drawingsOf(app, by))[0]).toMatchObject({ status: 'FAILURE', progress: '100%' })
    expect(await refundsOf(app, by)).toEqual([50_000])
    expect((await balanceOf(app, by)).quota).toBe(10_000_000)
  })

  test('about a task that is not there, or is somebody else’s, is refused; an administrator may name any', async () => {
    const by = await holder(app)
    const id = await imagined(app, by)
    const refused = { status: 400, json: { description: 'midjourney_task_not_found', type: 'upstream_error', code: 4 } }
    expect(await call(app, by, 'POST /mj/notify', { id: 'nobody' })).toMatchObject(refused)
    expect(await call(app, by, 'POST /mj/notify', {})).toMatchObject(refused)
    expect(await call(app, await holder(app), 'POST /mj/notify', { id })).toMatchObject(refused)
    expect(await call(app, await holder(app, { role: 10 }), 'POST /mj/notify', { id })).toMatchObject({ status: 200 })
    expect((await drawingsOf(app, by))[0]).toMatchObject({ status: 'IN_PROGRESS' })
  })
})

describe('an image by its address', () => {
  test('comes through this site with its own type, and may do nothing here', async () => {
    const by = await holder(app)
    const id = await imagined(app, by, 'x [[polls=1]]')
    const early = await fetch(`${app.url}/mj/image/${id}`)
    expect([early.status, await early.json()]).toEqual([400, { error: 'midjourney_task_not_found' }])
    await poll(app)
    const image = await fetch(`${app.url}/mj/image/${id}`)
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(image.headers.get('content-security-policy')).toContain('sandbox')
    expect(
      Buffer.from(await image.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG')
    expect((await fetch(`${app.url}/mj-fast/mj/image/${id}`)).status).toBe(200)
  })

  test('that cannot be fetched, or is refused where it lies', async () => {
    const by = await holder(app)
    const id = await imagined(app, by, 'x [[polls=1]]')
    await poll(app)
    const at = async (address: string) => {
      await app.pool.query('update drawing_tasks set image_url = $2 where mj_id = $1', [id, address])
      const reply = await fetch(`${app.url}/mj/image/${id}`)
      return [reply.status, await reply.json()]
    }
    expect(await at('http://127.0.0.1:9/gone.png')).toEqual([500, { error: 'http_get_image_failed' }])
    expect(await at('http://169.254.169.254/latest/meta-data')).toEqual([500, { error: 'http_get_image_failed' }])
    expect(await at('file:///etc/passwd')).toEqual([500, { error: 'http_get_image_failed' }])
    const [status, json] = await at(`${app.upstream.url}/media/none.png`)
    expect([status, json]).toEqual([404, { error: expect.stringContaining('no such file') }])
    await withOptions(app, { 'global.hide_upstream_error_enabled': 'true' }, async () =>
      expect(await at(`${app.upstream.url}/media/none.png`)).toEqual([404, { error: 'upstream returned status 404' }]),
    )
    const unknown = await fetch(`${app.url}/mj/image/nobody`)
    expect([unknown.status, await unknown.json()]).toEqual([400, { error: 'midjourney_task_not_found' }])
  })

  test('goes through the operator’s worker where there is one', async () => {
    const asked: unknown[] = []
    const worker = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        asked.push(JSON.parse(Buffer.concat(chunks).toString()))
        response.setHeader('content-type', 'image/webp').end('a picture')
      })
    })
    await using listening = await listenLocally(worker)
    const by = await holder(app)
    const id = await imagined(app, by, 'x [[polls=1]]')
    await poll(app)
    const url = 'https://pictures.example/1.png'
    await app.pool.query('update drawing_tasks set image_url = $2 where mj_id = $1', [id, url])
    const WorkerUrl = `${listening.url}/`
    await withOptions(app, { WorkerUrl }, async () => {
      const image = await fetch(`${app.url}/mj/image/${id}`)
      expect([image.status, image.headers.get('content-type'), await image.text()]).toEqual([
        200,
        'image/webp',
        'a picture',
      ])
      // Neither it nor a proxy fetches from its own network whatever an upstream names.
      await app.pool.query('update drawing_tasks set image_url = $2 where mj_id = $1', [id, 'https://10.0.0.1/1.png'])
      expect((await fetch(`${app.url}/mj/image/${id}`)).status).toBe(500)
    })
    expect(asked).toEqual([{ url, key: '' }])
  })

  test('is returned with a mark that defeats caches until it is final, or as the upstream has it', async () => {
    const by = await holder(app)
    const id = await imagined(app, by, 'x [[job=running]]')
    const job = app.upstream.tasks.get(id)
    if (!job) throw new Error('no such job')
    job.override = { imageUrl: `${app.upstream.url}/media/pixel.png` }
    await poll(app)
    const shown = async () => (await call(app, by, `GET /mj/task/${id}/fetch`)).json['imageUrl']
    expect(await shown()).toMatch(new RegExp(`^https://gateway\\.example/mj/image/${id}\\?rand=\\d{19}$`))
    await withOptions(app, { MjForwardUrlEnabled: 'false' }, async () => {
      expect(await shown()).toBe(`${app.upstream.url}/media/pixel.png`)
    })
    job.override = { status: 'SUCCESS', progress: '100%' }
    await poll(app)
    expect(await shown()).toBe(`https://gateway.example/mj/image/${id}`)
    // Without an address of the site, at the host that its caller came by.
    await withOptions(app, { ServerAddress: '' }, async () => {
      expect(await shown()).toBe(`${app.url}/mj/image/${id}`)
      const listed = await call(app, by, 'POST /mj/task/list-by-condition', { ids: [id] })
      expect(listed.json).toMatchObject([{ imageUrl: `${app.url}/mj/image/${id}` }])
    })
  })
})
