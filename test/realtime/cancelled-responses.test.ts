import type { Socket } from 'node:net'
import { beforeEach, expect, test } from 'vitest'
import { consumed, eventually } from '../relay/caller-dialects.ts'
import { allowUnpriced, serve } from '../relay/serve.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import { openResponses, says } from './responses-socket.ts'

const app = await startBalancedApp()
await allowUnpriced(app)
beforeEach(() => app.upstream.clear())

const families = [
  ['passed through', 1],
  ['translated', 14],
] as const

async function start(type: number) {
  const user = await app.make.user({ quota: 1_000_000_000 })
  const { key } = await app.make.token(user)
  const { model } = await serve(app, { type })
  const session = await openResponses(key, app)
  const rows = async () => (await consumed(app)).filter(({ user_id: id }) => Number(id) === user.id)
  const cancel = (named: object = {}) => session.socket.send(JSON.stringify({ type: 'response.cancel', ...named }))
  return { session, model, user, rows, cancel }
}

const long = says('go on [[words=5000,gap=5]]')

test.each(families)(
  'a response that is cancelled ends at once, is paid as far as it was delivered, and the next goes on from the one before: %s',
  async (_, type) => {
    const { session, model, user, rows, cancel } = await start(type)
    session.create({ model, store: false, input: says('the first') })
    const first = await session.ended()
    session.create({ model, store: false, previous_response_id: first.response.id, input: long })
    const begun = () => session.events.filter((event) => event.type === 'response.created')[1]
    await expect
      .poll(() => session.events.filter((event) => event.type === 'response.output_text.delta').length)
      .toBeGreaterThan(10)
    cancel({ response_id: begun()?.response.id })
    const end = await session.ended()
    expect(end).toMatchObject({
      type: 'response.incomplete',
      response: { id: begun()?.response.id, status: 'incomplete', incomplete_details: { reason: 'cancelled' } },
    })
    const numbers = session.events
      .slice(session.events.indexOf(begun() ?? end))
      .map((event) => event['sequence_number'])
    expect(numbers).toEqual(numbers.map((_number, index) => index))
    const [, row] = await eventually(rows, ({ length }) => length === 2)
    expect(row?.completion_tokens).toBeGreaterThan(0)
    expect(row?.completion_tokens).toBeLessThan(5000)
    await expect.poll(() => app.upstream.open).toBe(0)

    session.create({ model, store: false, previous_response_id: first.response.id, input: says('the last') })
    expect((await session.ended()).type).toBe('response.completed')
    const asked = JSON.stringify(app.upstream.requests.at(-1)?.body)
    for (const text of ['the first', 'the last']) expect(asked).toContain(text)
    expect(asked).not.toContain('go on')
    const paid = (await eventually(rows, ({ length }) => length === 3)).reduce(
      (sum, { quota }) => sum + Number(quota),
      0,
    )
    await expect.poll(() => app.balanceOf(user.id)).toBe(1_000_000_000 - paid)
    session.socket.close()
  },
)

test('a cancellation behind the end of its response says nothing, and harms no other', async () => {
  const { session, model, rows, cancel } = await start(1)
  session.create({ model, store: false, input: says('one') })
  const first = await session.ended()
  cancel({ response_id: first.response.id })
  cancel()
  session.create({ model, store: false, input: says('two [[words=20,gap=5]]') })
  await expect.poll(() => session.events.filter((event) => event.type === 'response.created').length).toBe(2)
  cancel({ response_id: first.response.id })
  expect((await session.ended()).type).toBe('response.completed')
  expect(session.events.filter((event) => event.type === 'error')).toEqual([])
  expect(await rows()).toHaveLength(2)
  session.socket.close()
})

test('a response that is cancelled before it is asked for is neither asked for nor paid', async () => {
  const { session, model, rows, cancel } = await start(1)
  // Both in one packet.
  const { _socket: connection } = session.socket as unknown as { _socket: Socket }
  connection.cork()
  session.create({ model, store: false, input: says('one') })
  cancel()
  connection.uncork()
  expect(await session.ended()).toMatchObject({ type: 'response.incomplete' })
  expect(app.upstream.total).toBe(0)
  session.create({ model, store: false, input: says('two') })
  expect((await session.ended()).type).toBe('response.completed')
  expect(await rows()).toHaveLength(1)
  session.socket.close()
})
