import { describe, expect, test } from 'vitest'
import { setOptions, withOptions } from '#test/relay/serve.ts'
import type { TestUser } from '#test/support/factories.ts'
import { call, drawingChannel, holder, imagined, musicChannel, poll } from './world.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

const images: string[] = []
const songs: string[] = []

const app = await startBalancedApp()
await setOptions(app, { ServerAddress: 'https://gateway.example' })
const drawing = await drawingChannel(app, { name: '绘图一号' })
const music = await musicChannel(app, { name: '音乐一号' })
const by = await holder(app)
const other = await holder(app)
const admin = await app.make.user({ role: 10 })
for (let number = 0; number < 11; number += 1) images.push(await imagined(app, by, `picture ${number} [[polls=1]]`))
images.push(await imagined(app, other, 'of another'))
songs.push(String((await call(app, by, 'POST /suno/submit/music', { prompt: 'song' })).json['data']))
songs.push(String((await call(app, other, 'POST /suno/submit/lyrics', { prompt: 'words' })).json['data']))
await poll(app)

describe('drawings over REST', () => {
  const list = async (user: TestUser, path: string) =>
    (await app.rest(user, 'GET', path)).json?.data as Record<string, unknown>[]

  test('an owner sees the own ones, newest first, ten a page from page 0, without their channel', async () => {
    const first = await list(by.user, '/api/mj/self/?p=0')
    expect(first).toHaveLength(10)
    const ids = first.map((task) => task['mj_id'])
    expect(ids).toEqual(images.slice(1, 11).toReversed())
    expect(await list(by.user, '/api/mj/self?p=1')).toMatchObject([{ mj_id: images[0] }])
    expect(Object.keys(first[0] ?? {}).toSorted()).toEqual(
      [
        'id',
        'code',
        'user_id',
        'action',
        'mj_id',
        'prompt',
        'prompt_en',
        'description',
        'state',
        'submit_time',
        'start_time',
        'finish_time',
        'image_url',
        'status',
        'progress',
        'fail_reason',
        'channel_id',
        'quota',
        'buttons',
        'properties',
      ].toSorted(),
    )
    expect(first[0]).toMatchObject({
      user_id: by.user.id,
      channel_id: 0,
      quota: 50_000,
      status: 'SUCCESS',
      progress: '100%',
      image_url: `https://gateway.example/mj/image/${String(ids[0])}`,
    })
    expect(first[0]?.['submit_time']).toBeGreaterThan(1_600_000_000_000)
    // Texts of JSON, as clients read them.
    expect(JSON.parse(String(first[0]?.['buttons']))).toBeInstanceOf(Array)
    expect(first[0]?.['properties']).toBeTypeOf('string')
  })

  test('have an address that can be opened before the site has been given one', async () => {
    const local = `http://localhost:${app.services.environment.PORT}`
    await withOptions(app, { ServerAddress: '' }, async () => {
      expect((await list(by.user, '/api/mj/self/?p=0'))[0]).toMatchObject({
        image_url: `${local}/mj/image/${String(images[10])}`,
      })
    })
  })

  test('an administrator sees all, by number, channel and milliseconds', async () => {
    const all = await list(admin, '/api/mj/')
    expect(all[0]).toMatchObject({ mj_id: images[11], channel_id: drawing, image_url: '' })
    expect(await list(admin, `/api/mj/?mj_id=${images[3]}`)).toMatchObject([{ mj_id: images[3] }])
    expect(await list(admin, `/api/mj/?channel_id=${drawing}`)).toHaveLength(10)
    expect(await list(admin, '/api/mj/?channel_id=4711')).toEqual([])
    expect(await list(admin, `/api/mj/?start_timestamp=${Date.now() + 60_000}`)).toEqual([])
    expect(await list(admin, `/api/mj/?end_timestamp=${Date.now() - 3_600_000}`)).toEqual([])
    for (const query of ['channel_id=word', 'channel_id=-1', 'start_timestamp=word', 'end_timestamp=word']) {
      for (const path of ['/api/mj/', '/api/task/']) {
        const { json } = await app.rest(admin, 'GET', `${path}?${query}`)
        expect(json, `${path}?${query}`).toMatchObject({ success: false, message: expect.stringMatching('参数无效') })
      }
    }
    const window = `start_timestamp=${Date.now() - 3_600_000}&end_timestamp=${Date.now() + 3_600_000}`
    expect(await list(admin, `/api/mj/?p=1&${window}`)).toHaveLength(2)
  })

  test('the upstream’s address is shown where the site does not forward', async () => {
    await withOptions(app, { MjForwardUrlEnabled: 'false' }, async () => {
      const [first] = await list(by.user, '/api/mj/self')
      expect(first).toMatchObject({ image_url: `${app.upstream.url}/media/pixel.png` })
    })
  })

  test('an owner cannot see all, an anonymous caller nothing', async () => {
    expect((await app.rest(by.user, 'GET', '/api/mj/')).json).toMatchObject({ success: false })
    expect((await app.rest(null, 'GET', '/api/mj/self')).status).toBe(401)
  })
})

describe('tasks over REST', () => {
  const list = async (user: TestUser, path: string) =>
    (await app.rest(user, 'GET', path)).json?.data as Record<string, unknown>[]

  test('an owner sees the own ones, in seconds, without their channel', async () => {
    const tasks = await list(by.user, '/api/task/self')
    expect(tasks).toHaveLength(1)
    expect(Object.keys(tasks[0] ?? {}).toSorted()).toEqual(
      [
        'id',
        'created_at',
        'updated_at',
        'task_id',
        'platform',
        'user_id',
        'channel_id',
        'quota',
        'action',
        'status',
        'fail_reason',
        'submit_time',
        'start_time',
        'finish_time',
        'progress',
        'properties',
        'data',
      ].toSorted(),
    )
    expect(tasks[0]).toMatchObject({
      task_id: songs[0],
      platform: 'suno',
      action: 'MUSIC',
      channel_id: 0,
      properties: { input: 'song' },
      progress: '30%',
    })
    expect(tasks[0]?.['submit_time']).toBeLessThan(100_000_000_000)
  })

  test('an administrator sees all, by every filter', async () => {
    const found = async (query: string) => (await list(admin, `/api/task/?${query}`)).map((job) => job['task_id'])
    expect(await found('')).toEqual(songs.toReversed())
    expect(await found('action=LYRICS')).toEqual([songs[1]])
    expect(await found('status=IN_PROGRESS&platform=suno')).toHaveLength(2)
    expect(await found('status=SUCCESS')).toEqual([])
    expect(await found(`task_id=${songs[0]}`)).toEqual([songs[0]])
    expect(await found(`channel_id=${music}`)).toHaveLength(2)
    expect(await found('channel_id=4711')).toEqual([])
    const second = Math.floor(Date.now() / 1000)
    expect(await found(`start_timestamp=${second - 3600}&end_timestamp=${second + 3600}`)).toHaveLength(2)
    expect(await found(`end_timestamp=${second - 3600}`)).toEqual([])
    expect((await app.rest(by.user, 'GET', '/api/task/')).json).toMatchObject({ success: false })
  })
})

describe('over tRPC', () => {
  test('owners and administrators see what is theirs to see, with totals', async () => {
    const own = await app.trpc(by.user).user.tasks.drawings.query({ pageSize: 20 })
    expect([own.total, own.items.length]).toEqual([11, 11])
    expect(own.items[0]).toMatchObject({ channelId: 0, channelName: '', previewPath: `/mj/image/${images[10]}` })
    const all = await app.trpc(admin).admin.tasks.drawings.query({ username: other.user.username })
    expect(all.items).toMatchObject([
      { mjId: images[11], username: other.user.username, channelId: drawing, channelName: '绘图一号' },
    ])
    expect((await app.trpc(admin).admin.tasks.drawings.query({ username: 'nobody' })).total).toBe(0)
    expect((await app.trpc(admin).admin.tasks.drawings.query({ status: 'SUCCESS', action: 'IMAGINE' })).total).toBe(11)
    const tasks = await app.trpc(admin).admin.tasks.musicTasks.query({ username: by.user.username })
    expect(tasks.items).toMatchObject([{ taskId: songs[0], channelName: '音乐一号' }])
  })

  test('one task is shown to its owner and to administrators alone', async () => {
    const [mine] = (await app.trpc(by.user).user.tasks.drawings.query({ mjId: images[0] ?? '' })).items
    const [song] = (await app.trpc(by.user).user.tasks.musicTasks.query({})).items
    const id = mine?.id ?? 0
    expect(await app.trpc(by.user).user.tasks.drawing.query({ id })).toMatchObject({ mjId: images[0], channelId: 0 })
    expect(await app.trpc(admin).user.tasks.drawing.query({ id })).toMatchObject({ channelId: drawing })
    await expect(app.trpc(other.user).user.tasks.drawing.query({ id })).rejects.toMatchObject({
      data: { code: 'NOT_FOUND' },
    })
    await expect(app.trpc(other.user).user.tasks.musicTask.query({ id: song?.id ?? 0 })).rejects.toMatchObject({
      data: { code: 'NOT_FOUND' },
    })
    await expect(app.trpc(by.user).admin.tasks.drawings.query({})).rejects.toMatchObject({
      data: { code: 'FORBIDDEN' },
    })
    await expect(app.trpc().user.tasks.musicTasks.query({})).rejects.toMatchObject({ data: { code: 'UNAUTHORIZED' } })
  })
})
