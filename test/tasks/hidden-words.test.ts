import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { setOptions, withOptions } from '#test/relay/serve.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import { listenLocally } from '#test/support/local-server.ts'
import {
  call,
  drawingChannel,
  drawingsOf,
  holder,
  type Holder,
  imagine,
  imagined,
  logged,
  musicChannel,
  poll,
} from './world.ts'

// Where the operator wants nobody to learn who is behind the channels.
const hiding = { 'global.hide_upstream_error_enabled': 'true' }
const words = 'secret words'
/** Long, so that no number by chance has it in it. */
const odd = 'odd-words-of-theirs'
const revealing = /secret|odd-words/

/** How the drawing service answers next, and the music service. */
let answer: (path: string) => { status: number; body: unknown } = () => ({ status: 200, body: {} })
const server = createServer((request, response) => {
  const { status, body } = answer(request.url ?? '')
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
})
const upstream = await listenLocally(server)
const app = await startBalancedApp()
afterAll(() => upstream[Symbol.asyncDispose]())
await drawingChannel(app, { baseUrl: upstream.url })
await musicChannel(app, { baseUrl: upstream.url })
await setOptions(app, { RetryTimes: '0' })

const hidden = (description: string, code: number) => ({ description, type: 'upstream_error', code })

test.each([
  [500, { code: 4, description: words, result: odd, properties: { [odd]: 1 } }, 4],
  [401, { error: { message: words, type: odd } }, 5],
  [200, { code: 24, description: words, properties: { bannedWord: odd } }, 24],
])('what a drawing service says when it refuses with %i is hidden', async (status, body, code) => {
  const by = await holder(app)
  answer = () => ({ status, body })
  await withOptions(app, hiding, async () => {
    const reply = await imagine(app, by)
    const id = reply.headers.get('x-request-id')
    const description = status === 200 ? 'upstream returned code 24' : `upstream returned status ${status}`
    expect([reply.status, reply.json]).toEqual([status, hidden(description, code)])
    expect(id).not.toBe('')
    const items = status === 200 ? [] : await logsOf(by)
    expect(items).toHaveLength(status === 200 ? 0 : 1)
    expect(JSON.stringify(items)).not.toMatch(revealing)
  })
  expect(JSON.stringify((await imagine(app, by)).json)).toMatch(revealing)
})

async function logsOf(by: Holder) {
  await expect.poll(() => logged(app, by, 6)).toHaveLength(1)
  return (await app.trpc(by.user).user.logs.list.query({ page: 1, pageSize: 10 })).items
}

test('so is what it says when it is busy', async () => {
  const by = await holder(app)
  answer = () => ({ status: 200, body: { code: 30, description: words } })
  await withOptions(app, hiding, async () => {
    const reply = await imagine(app, by)
    expect([reply.status, reply.json]).toEqual([429, hidden('渠道繁忙，请稍后重试', 30)])
  })
})

test('so is what it says when it does not give a seed', async () => {
  const by = await holder(app)
  answer = () => ({ status: 200, body: { code: 1, description: 'ok', result: String(Math.random()) } })
  const id = await imagined(app, by)
  await withOptions(app, hiding, async () => {
    for (const [status, body, code, wording] of [
      [500, { description: words }, 5, 'status 500'],
      [200, { code: 4, description: words }, 4, 'code 4'],
    ] as const) {
      answer = () => ({ status, body })
      const reply = await call(app, by, `GET /mj/task/${id}/image-seed`)
      expect([reply.status, reply.json]).toEqual([status, hidden(`upstream returned ${wording}`, code)])
    }
    answer = () => ({ status: 200, body: { code: 1, description: 'ok', result: '42' } })
    expect((await call(app, by, `GET /mj/task/${id}/image-seed`)).json).toMatchObject({ result: '42' })
  })
})

test('so is why a drawing or a piece of music failed later, but not from administrators', async () => {
  const by = await holder(app)
  const admin = await app.make.user({ role: roles.admin })
  const drawn = `d${Math.random()}`
  const made = `m${Math.random()}`
  answer = (path) => ({
    status: 200,
    body: path.startsWith('/mj/') ? { code: 1, description: 'ok', result: drawn } : { code: 'success', data: made },
  })
  await imagined(app, by)
  expect((await call(app, by, 'POST /suno/submit/music', { gpt_description_prompt: 'x' })).json).toMatchObject({
    data: made,
  })
  answer = (path) => ({
    status: 200,
    body: path.startsWith('/mj/')
      ? [{ id: drawn, status: 'FAILURE', progress: '100%', failReason: words }]
      : { code: 'success', data: [{ task_id: made, status: 'FAILURE', fail_reason: words, data: [{ [odd]: 1 }] }] },
  })
  await poll(app)
  expect(await drawingsOf(app, by)).toMatchObject([{ status: 'FAILURE', fail_reason: words }])
  const page = { page: 1, pageSize: 10 }
  const readBy = async (user: Holder['user']) => {
    const { tasks } = app.trpc(user).user
    const [drawing, music] = [(await tasks.drawings.query(page)).items, (await tasks.musicTasks.query(page)).items]
    const ids = [Number(drawing[0]?.id), Number(music[0]?.id)]
    return JSON.stringify([
      ...drawing,
      ...music,
      ids[0] ? await tasks.drawing.query({ id: ids[0] }) : null,
      ids[1] ? await tasks.musicTask.query({ id: ids[1] }) : null,
    ])
  }
  const fetched = async () =>
    JSON.stringify([
      (await call(app, by, `GET /mj/task/${drawn}/fetch`)).json,
      (await call(app, by, 'POST /mj/task/list-by-condition', { ids: [drawn] })).json,
      (await call(app, by, `GET /suno/fetch/${made}`)).json,
      (await call(app, by, 'POST /suno/fetch', { ids: [made] })).json,
    ])
  await withOptions(app, hiding, async () => {
    for (const text of [await readBy(by.user), await fetched()]) {
      expect(text).toContain('上游任务失败')
      expect(text).not.toMatch(revealing)
    }
    const all = app.trpc(admin).admin.tasks
    expect((await all.drawings.query(page)).items[0]).toMatchObject({ failReason: words })
    expect((await all.musicTasks.query(page)).items[0]).toMatchObject({ failReason: words })
  })
  expect((await fetched()).match(/secret words/g)).toHaveLength(4)
  // What the gateway says itself is nobody's secret.
  await app.pool.query("update drawing_tasks set fail_reason = '渠道 12 不存在' where mj_id = $1", [drawn])
  await withOptions(app, hiding, async () => expect(await readBy(by.user)).toContain('渠道 12 不存在'))
})
