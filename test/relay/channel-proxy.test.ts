import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { pixel } from '#test/simulator/media.ts'
import { serviceAccount } from '#test/simulator/vertex/account.ts'
import type { App } from '#test/support/app.ts'
import type { TestToken } from '#test/support/factories.ts'
import { startHttpProxy, type TestProxy } from '#test/upstream/proxies.ts'
import { serve } from './serve.ts'
import { startRelay } from './relay-world.ts'

let app: App
let token: TestToken
let proxy: TestProxy
let setting: string
beforeAll(async () => {
  ;({ app, token } = await startRelay())
  proxy = await startHttpProxy()
  setting = JSON.stringify({ proxy: `http://127.0.0.1:${proxy.port}` })
})
afterAll(async () => {
  proxy.close()
  await app[Symbol.asyncDispose]()
})
beforeEach(() => {
  proxy.seen.length = 0
})

const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel.toString('base64')}` } }

test('a login goes through the proxy of the channel, as the call after it does', async () => {
  const { model } = await serve(app, { type: 41, key: serviceAccount(app.upstream.url), setting })
  const reply = await app.relay(token, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })
  expect(reply.status).toBe(200)
  expect(proxy.seen.map((line) => line.split(' ')[1]?.replace(app.upstream.url, ''))).toEqual([
    '/token',
    expect.stringMatching(/:generateContent$/),
  ])
})

test('a file that is sent ahead goes through the proxy of the channel, and belongs to the user of the call', async () => {
  const { model } = await serve(app, { type: 37, key: 'app-1', setting })
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'look' }, image] }]
  const reply = await app.relay(token, '/v1/chat/completions', { model, messages, user: 'a user' })
  expect(await reply.json()).toMatchObject({
    choices: [{ message: { content: expect.stringContaining(`Image image/png ${pixel.length} bytes`) } }],
  })
  expect(proxy.seen.map((line) => line.split(' ')[1]?.replace(app.upstream.url, ''))).toEqual([
    '/v1/files/upload',
    '/v1/chat-messages',
  ])
  const [upload, call] = app.upstream.requests.slice(-2)
  expect(upload?.body).toMatchObject({ user: 'a user', file: { filename: 'image.png', type: 'image/png' } })
  expect(call?.body).toMatchObject({ user: 'a user', files: [{ type: 'image', transfer_method: 'local_file' }] })
})

test('a refused file is a failed attempt that costs nothing', async () => {
  const { model } = await serve(app, { type: 37, key: 'bad-key' })
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'look' }, image] }]
  const reply = await app.relay(token, '/v1/chat/completions', { model, messages })
  expect(reply.ok).toBe(false)
  expect(app.upstream.requests.at(-1)?.path).toBe('/v1/files/upload')
  expect(await app.violations()).toEqual([])
})
