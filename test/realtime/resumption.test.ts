import { expect, test } from 'vitest'
import { serve } from '../relay/serve.ts'
import { startScriptedUpstream } from './scripted-upstream.ts'
import { handshake, open, payerWith, startRealtime } from './world.ts'

const { app } = await startRealtime()
await app.make.option('SelfUseModeEnabled', 'true')
await app.services.options.reload()

/** What was asked for, and by which key, of an upstream that begins a conversation in each session. */
const asked: { url: string; key: string }[] = []
const upstream = await startScriptedUpstream((socket, { url = '', headers }) => {
  asked.push({ url, key: String(headers.authorization) })
  const id = new URL(url, 'http://upstream').searchParams.get('conversation_id') ?? `conv_${asked.length}`
  socket.send(JSON.stringify({ type: 'conversation.created', conversation: { id } }))
})

const session = async (key: string, model: string, query = '') => {
  const { socket, next } = await open({ url: app.url, key, model, query })
  const { conversation } = (await next('conversation.created')) as unknown as { conversation: { id: string } }
  socket.close()
  return conversation.id
}

test('a conversation that the vendor keeps is gone on with by its own user alone, with the key that began it', async () => {
  const [mine, theirs] = [await payerWith(app, 1_000_000_000), await payerWith(app, 1_000_000_000)]
  const { model } = await serve(app, { type: 48, baseUrl: upstream.baseUrl, key: 'one,two,three' })
  const id = await session(mine.key, model)
  for (let round = 0; round < 3; round += 1) expect(await session(mine.key, model, `&conversation_id=${id}`)).toBe(id)
  expect(asked.slice(1).map(({ url }) => url)).toEqual(
    Array.from({ length: 3 }, () => `/v1/realtime?model=${model}&conversation_id=${id}`),
  )
  expect(new Set(asked.map(({ key }) => key)).size).toBe(1)

  const dialled = asked.length
  for (const [key, name] of [
    [theirs.key, id],
    [mine.key, 'conv_nobody'],
    [mine.key, ''],
  ]) {
    const path = `/v1/realtime?model=${model}&conversation_id=${name}`
    expect((await handshake(app.url, { path, headers: { authorization: `Bearer sk-${key}` } })).status).toBe(404)
  }
  expect(asked).toHaveLength(dialled)
})

test('where no vendor keeps conversations none is gone on with', async () => {
  const { key } = await payerWith(app, 1_000_000_000)
  const { model } = await serve(app, { type: 1, baseUrl: upstream.baseUrl })
  const id = await session(key, model)
  const path = `/v1/realtime?model=${model}&conversation_id=${id}`
  expect((await handshake(app.url, { path, headers: { authorization: `Bearer sk-${key}` } })).status).toBe(404)
})
