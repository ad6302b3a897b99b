import { once } from 'node:events'
import { beforeEach, expect, test } from 'vitest'
import { consumed } from '../relay/caller-dialects.ts'
import { allowUnpriced, serve } from '../relay/serve.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import { openResponses, says, unknownPrevious } from './responses-socket.ts'

const app = await startBalancedApp()
await allowUnpriced(app)
beforeEach(() => app.upstream.clear())

async function start(type: number) {
  const user = await app.make.user({ quota: 1_000_000_000 })
  const { key } = await app.make.token(user)
  const { model } = await serve(app, { type })
  const session = await openResponses(key, app)
  const ask = async (lane: string, text: string, more: object = {}) => {
    session.create({ model, store: false, stream_id: lane, input: says(text), ...more })
    return session.ended()
  }
  return { session, model, user, ask, asked: () => JSON.stringify(app.upstream.requests.at(-1)?.body) }
}

test.each([
  ['passed through', 1],
  ['translated', 14],
])('each lane of a socket has its own latest response, from which others may begin: %s', async (_, type) => {
  const { session, ask, asked, user } = await start(type)
  const a = await ask('a "$&', 'apple')
  const b = await ask('b', 'banana')
  const nextA = await ask('a "$&', 'avocado', { previous_response_id: a.response.id })
  expect(asked()).toContain('apple')
  expect(asked()).not.toContain('banana')
  expect(asked()).not.toContain('stream_id')
  await ask('c', 'cherry', { previous_response_id: b.response.id })
  expect(asked()).toContain('banana')
  await ask('b', 'blackberry', { previous_response_id: b.response.id })
  expect(asked()).toContain('banana')
  expect(asked()).not.toContain('cherry')
  // Its lane has a later one.
  const late = await ask('c', 'too late', { previous_response_id: a.response.id })
  expect(late).toMatchObject({ ...unknownPrevious(a.response.id), stream_id: 'c' })
  expect((await ask('c', 'kept', { previous_response_id: nextA.response.id })).type).toBe('response.completed')
  const lanes = session.events.map((event) => event['stream_id'])
  expect(lanes.filter((lane, index) => index === 0 || lane !== lanes[index - 1])).toEqual([
    'a "$&',
    'b',
    'a "$&',
    'c',
    'b',
    'c',
  ])
  expect((await consumed(app)).filter(({ user_id: id }) => Number(id) === user.id)).toHaveLength(6)
  session.socket.close()
})

test('what names no lane is answered without one, and its errors name theirs', async () => {
  const { session, model } = await start(1)
  session.create({ model, store: false, input: says('hi'), stream_id: null })
  await session.ended()
  expect(session.events.some((event) => 'stream_id' in event)).toBe(false)
  for (const name of ['', 1, 'x'.repeat(257)]) {
    session.create({ model, input: says('hi'), stream_id: name })
    expect(await session.ended()).toMatchObject({
      status: 400,
      error: { code: 'invalid_stream_id', param: 'stream_id' },
    })
  }
  session.socket.send(JSON.stringify({ type: 'response.other', stream_id: 'a' }))
  expect(await session.ended()).toMatchObject({ stream_id: 'a', error: { code: 'unknown_event' } })
  session.socket.close()
})

test('of more lanes than a socket may have, the one that has waited longest is forgotten', async () => {
  const { session, ask } = await start(1)
  const prepared = new Map<string, string>()
  for (let lane = 0; lane < 34; lane += 1) {
    const { response } = await ask(String(lane), 'the beginning', { generate: false })
    prepared.set(String(lane), response.id)
  }
  const goOn = (lane: string) => ask(lane, 'and then', { previous_response_id: prepared.get(lane) })
  expect(await goOn('0')).toMatchObject({ ...unknownPrevious(prepared.get('0') ?? ''), stream_id: '0' })
  expect((await goOn('1')).type).toBe('response.completed')
  session.socket.close()
})

test('a cancellation that names another lane than the one under way leaves it alone', async () => {
  const { session, model } = await start(1)
  session.create({ model, store: false, stream_id: 'a', input: says('hi [[words=60,gate=lanes,gateat=10]]') })
  await expect.poll(() => session.events.length).toBeGreaterThan(3)
  session.socket.send(JSON.stringify({ type: 'response.cancel', stream_id: 'b' }))
  const pong = once(session.socket, 'pong')
  session.socket.ping()
  await pong
  app.upstream.openGate('lanes')
  expect(await session.ended()).toMatchObject({ type: 'response.completed', stream_id: 'a' })
  session.socket.close()
})

test('of lanes that wait for another, the one that a cancellation names is not asked for, and no other is harmed', async () => {
  const { session, model } = await start(1)
  const create = (stream_id: string, words: string) =>
    session.create({ model, store: false, stream_id, input: says(words) })
  const cancel = (stream_id: string) => session.socket.send(JSON.stringify({ type: 'response.cancel', stream_id }))
  create('a', 'one [[words=60,gate=queued,gateat=10]]')
  create('b', 'two')
  create('c', 'three')
  // Of the third, for the fourth has not been asked for.
  cancel('c')
  create('c', 'four')
  cancel('b')
  const pong = once(session.socket, 'pong')
  session.socket.ping()
  await pong
  app.upstream.openGate('queued')
  const ends = []
  for (let count = 0; count < 4; count += 1) ends.push(await session.ended())
  expect(ends.map(({ type, stream_id: lane }) => [lane, type])).toEqual([
    ['a', 'response.completed'],
    ['b', 'response.incomplete'],
    ['c', 'response.incomplete'],
    ['c', 'response.completed'],
  ])
  const asked = app.upstream.requests.map(({ body }) => JSON.stringify(body))
  expect(['one', 'two', 'three', 'four'].map((words) => asked.some((text) => text.includes(words)))).toEqual([
    true,
    false,
    false,
    true,
  ])
  session.socket.close()
})
