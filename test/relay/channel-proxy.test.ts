import { afterAll, beforeEach, expect, test } from 'vitest'
import { encryptProxyPasswords } from '#features/channels/stored-setting.ts'
import { pixel } from '#test/simulator/media.ts'
import { serviceAccount } from '#test/simulator/vertex/account.ts'
import { startHttpProxy } from '#test/upstream/proxies.ts'
import { serve } from './serve.ts'
import { startRelay } from './relay-world.ts'

const { app, token } = await startRelay()
const proxy = await startHttpProxy()
const setting = JSON.stringify({ proxy: `http://127.0.0.1:${proxy.port}` })
afterAll(() => proxy.close())
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

test('the password of a proxy reaches the proxy with every call, and stands nowhere in the database', async () => {
  const address = `http://bob:PlantedProxyPassword@127.0.0.1:${proxy.port}`
  const { model, ids } = await serve(app, { setting: JSON.stringify({ proxy: address }) })
  const id = ids[0] ?? 0
  const call = async () => {
    const body = { model, messages: [{ role: 'user', content: 'hi' }] }
    expect((await app.relay(token, '/v1/chat/completions', body)).status).toBe(200)
    return proxy.seen.at(-1)?.split(' ').at(-1)
  }
  const credential = Buffer.from('bob:PlantedProxyPassword').toString('base64')
  const stored = async () => JSON.stringify((await app.pool.query('select * from channels where id = $1', [id])).rows)
  expect(await call()).toBe(credential)
  expect(await stored()).not.toContain('PlantedProxyPassword')
  // As older versions stored it; several machines start at once.
  const typed = `{\n  "proxy": "${address}",\n  "idle_timeout": 60\n}`
  await app.pool.query("update channels set setting = $2, proxy_encrypted = '' where id = $1", [id, typed])
  await Promise.all([1, 2, 3].map(() => encryptProxyPasswords(app.pool, app.services.secrets)))
  expect(await stored()).not.toContain('PlantedProxyPassword')
  await app.settled()
  expect(await call()).toBe(credential)
  const root = await app.make.user({ role: 100 })
  expect((await app.trpc(root).admin.channels.get.query({ id })).setting).toBe(typed)
})
