import { URI } from 'otpauth'
import { afterAll, expect, test } from 'vitest'
import { createWorld } from '../faults/world.ts'
import { wav } from '../support/audio-files.ts'
import { createBrowser } from '../support/console-app.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startProduct } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { createSecurityKey } from '../support/security-key.ts'
import { startOidc } from '../support/sign-in/oidc-server.ts'
import { call } from '../support/sign-in/world.ts'

// Most tests load the sources; a package may run there and break inside the bundle, where nothing is found beside it.
const world = await createWorld()
const mail = await startMailServer()
const collector = await startReceiver()
const oidc = await startOidc({ id: 'client', secret: 'secret', redirectUris: ['http://localhost/oauth/oidc'] })
const options = {
  SMTPServer: '127.0.0.1',
  SMTPPort: String(mail.port),
  SMTPFrom: 'gateway@x.example',
  'oidc.client_id': 'client',
  'oidc.well_known': oidc.wellKnown,
  ServerAddress: 'http://localhost',
  ModelRatio: '{"whisper-1":15,"gpt-4o-mini":1}',
}
for (const [key, value] of Object.entries(options)) await world.make.option(key, value)
await world.make.channel({ models: 'whisper-1,gpt-4o-mini' })
const root = await world.make.user({ role: 100 })
const token = await world.make.token(root)
const product = await startProduct({
  isPatient: true,
  environment: {
    ...world.environment,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '5',
  },
})
afterAll(async () => {
  await product.stop()
  await mail.close()
  await oidc[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const browser = createBrowser(product.url)
browser.become(root.id, root.sessionId)

test('the server under test is the built one', () => {
  expect(process.env['SERVER_BUILD']).toMatch(/dist[/\\]server[/\\][0-9a-f]{16}$/)
})

test('sends mail and reads the configuration of an OpenID provider', async () => {
  expect(await call(browser, 'admin.options.testMail', { to: 'operator@x.example' })).toMatchObject({ status: 200 })
  await expect.poll(() => mail.mails.length).toBe(1)
  const secret = { key: 'oidc.client_secret', value: 'secret' }
  expect((await browser.put('/api/option/', secret)).body).toMatchObject({ success: true })
  expect(await call(browser, 'admin.options.testOidc', null)).toMatchObject({
    data: { tokenEndpoint: `${oidc.url}/token` },
  })
})

test('hashes passwords, shows one-time passwords and keeps passkeys', async () => {
  const person = { username: 'somebody', password: 'a long password' }
  expect((await browser.post('/api/user/', person)).body).toMatchObject({ success: true })
  const own = createBrowser(product.url)
  expect((await own.login(person)).body).toMatchObject({ success: true })
  const asked = await call(own, 'user.secondFactor.passkeys.options', {})
  const response = createSecurityKey().register(asked.data as { challenge: string })
  expect(await call(own, 'user.secondFactor.passkeys.add', { name: 'laptop', response })).toMatchObject({ status: 200 })
  const { qr_code_data: uri } = (await own.post('/api/user/2fa/setup')).data as { qr_code_data: string }
  expect(URI.parse(uri).label).toBe('somebody')
})

test('weighs audio, counts long prompts in a thread of its own, and exports traces of calls', async () => {
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('file', new Blob([new Uint8Array(wav(3))]), 'a.wav')
  const headers = { authorization: `Bearer sk-${token.key}` }
  const transcribed = await fetch(`${product.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
  expect([transcribed.status, await transcribed.json()]).toEqual([
    200,
    expect.objectContaining({ text: expect.any(String) }),
  ])
  const content = 'a long prompt with many different words '.repeat(20_000)
  const answer = await fetch(`${product.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', max_tokens: 5, messages: [{ role: 'user', content }] }),
  })
  expect(answer.status).toBe(200)
  await expect.poll(() => collector.received.length).toBeGreaterThan(0)
  // What breaks without an answer that shows it. Other errors are a slow database's too.
  expect(product.output()).not.toMatch(/the counting thread failed|that nobody caught|that nobody handled/)
})
