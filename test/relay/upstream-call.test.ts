import { createServer } from 'node:http'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { serviceAccount } from '#test/simulator/vertex/account.ts'
import { startApp } from '#test/support/app.ts'
import { listenLocally } from '#test/support/local-server.ts'
import { freePort } from '#test/support/processes.ts'
import { startHttpProxy } from '#test/upstream/proxies.ts'
import { allowUnpriced, type Route, serve } from './serve.ts'
import { closeWithoutViolations } from './caller-dialects.ts'

/** A file of its own for each test: tokens are stored by their key. */
let accounts = 0
const account = () =>
  JSON.stringify({ ...JSON.parse(serviceAccount(app.upstream.url)), private_key_id: (accounts += 1) })

const app = await startApp()
await allowUnpriced(app)
const channels = app.trpc(await app.make.user({ role: roles.admin })).admin.channels
const token = await app.make.token(await app.make.user({ quota: 1_000_000_000 }))
const proxy = await startHttpProxy()
afterAll(async () => {
  proxy.close()
  await closeWithoutViolations(app)
})
beforeEach(() => {
  proxy.seen.length = 0
})

const vertex = async (key: string, route: Route = {}) => {
  const { model, ids } = await serve(app, { type: 41, other: 'us-central1', key, ...route })
  return { model, id: ids[0] ?? 0 }
}
const chat = (model: string) =>
  app.relay(token, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })
const count = (model: string) =>
  app.relay(token, `/v1beta/models/${model}:countTokens`, { contents: [{ parts: [{ text: 'hi' }] }] })
const logins = () => app.upstream.requests.filter(({ path }) => path.endsWith('/token')).length

describe('tests and model lists of a channel', () => {
  test('go out with the token that calls are kept in, and calls with theirs', async () => {
    const { model, id } = await vertex(account())
    const before = logins()
    expect(await channels.probe.mutate({ id, model })).toMatchObject({ success: true })
    expect((await chat(model)).status).toBe(200)
    await channels.fetchModelsOf.mutate({ id }).catch(() => {})
    expect(await channels.probe.mutate({ id, model })).toMatchObject({ success: true })
    expect(logins() - before).toBe(1)
  })

  test('go through the proxy of the channel, logins and balances too', async () => {
    const setting = JSON.stringify({ proxy: `http://127.0.0.1:${proxy.port}` })
    const { model, id } = await vertex(account(), { setting })
    expect(await channels.probe.mutate({ id, model })).toMatchObject({ success: true })
    const plain = await serve(app, { type: 1, setting })
    await channels.fetchModelsOf.mutate({ id: plain.ids[0] ?? 0 })
    await channels.updateBalance.mutate({ id: plain.ids[0] ?? 0 }).catch(() => {})
    expect(proxy.seen.map((line) => line.split(' ')[1]?.replace(app.upstream.url, '')).slice(0, 4)).toEqual([
      '/token',
      expect.stringMatching(/:generateContent$/),
      '/v1/models',
      '/v1/dashboard/billing/subscription',
    ])
  })
})

test('a cached token that the upstream has withdrawn is asked for anew by a channel test', async () => {
  const key = account()
  expect((await chat((await vertex(key)).model)).status).toBe(200)
  const { id, model } = await vertex(key, { does: 'status=401,fail=1' })
  const before = logins()
  expect(await channels.probe.mutate({ id, model })).toMatchObject({ success: true })
  expect(logins() - before).toBe(1)
})

test('and by a count of tokens', async () => {
  const paths: string[] = []
  let refusing = false
  const upstream = createServer((request, response) => {
    const path = request.url ?? ''
    paths.push(path.slice(path.lastIndexOf(':') + 1))
    if (path === '/token') refusing = false
    response.writeHead(refusing ? 401 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(path === '/token' ? { access_token: 'kept', expires_in: 3600 } : { totalTokens: 77 }))
  })
  await using listening = await listenLocally(upstream)
  const baseUrl = listening.url
  const { model } = await vertex(serviceAccount(baseUrl), { baseUrl })
  const counts: unknown[] = []
  for (refusing of [false, true]) counts.push(await (await count(model)).json())
  expect(counts).toEqual([{ totalTokens: 77 }, { totalTokens: 77 }])
  expect(paths).toEqual(['/token', 'countTokens', 'countTokens', '/token', 'countTokens'])
})

test('a login server that is busy says nothing of the key, one that refuses it does', async () => {
  for (const [answered, status] of [
    [429, 429],
    [503, 503],
    [400, 401],
  ] as const) {
    const login = createServer((_, response) => {
      response.writeHead(answered, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: 'busy', error_description: 'later' }))
    })
    await using listening = await listenLocally(login)
    const baseUrl = listening.url
    const { model } = await vertex(serviceAccount(baseUrl), { baseUrl })
    expect((await chat(model)).status).toBe(status)
  }
})

test('a count of tokens is made here where the upstream does not answer', async () => {
  const { model } = await serve(app, { type: 24, baseUrl: `http://127.0.0.1:${await freePort()}` })
  const reply = await count(model)
  expect([reply.status, await reply.json()]).toEqual([200, { totalTokens: expect.any(Number) as unknown }])
})
