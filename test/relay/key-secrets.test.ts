import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { selectableChannelTypes } from '#core/channel-types/index.ts'
import { secretParts } from '#core/masking/secret-parts.ts'
import { roles } from '#core/roles.ts'
import { startApp } from '#test/support/app.ts'
import { listenLocally } from '#test/support/local-server.ts'
import { recordProcessLog } from '#test/support/process-log.ts'
import { open } from '../realtime/world.ts'
import { drawingModels, imagine, poll } from '../tasks/world.ts'
import { allowUnpriced, setOptions } from './serve.ts'
import { chat, closeWithoutViolations, say } from './caller-dialects.ts'

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

const keysOfFormat: Record<string, string> = {
  single: 'sk-Zx81QmPv93LrTw60BnYc',
  pipe: 'AKfirst81QmPv93|wJalr/XUtn+FEMI7MDENG|q9Third60Bnx',
  dot: '4f2a9c1b7d3e4f2a.Qw9rTy7uIo5pAs3d',
  dash: 'fastgpt9QmPv93LrTw-64f1c0ffee12',
  'single-or-pipe': 'bce81QmPv93LrTw|app60Bnx7k',
  json: '{"access_token":"Tok81QmPv93LrTw","account_id":"acct-60Bnx7k2"}',
  'service-account-json': JSON.stringify({
    type: 'service_account',
    project_id: 'orchid-project-381',
    private_key_id: '7f3d90ab12cd34ef56ab78cd90ef12ab34cd56ef',
    private_key: privateKey,
    client_email: 'caller@orchid-project-381.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  }),
}
const keyOf = ({ type, keyFormat, keyParts }: (typeof selectableChannelTypes)[number]): string => {
  const key = keysOfFormat[keyFormat] ?? 'sk-none81QmPv93LrTw60'
  if (type === 33) return key.split('|').slice(0, 2).concat('us-east-1').join('|')
  return keyFormat === 'pipe' ? key.split('|').slice(0, keyParts.length).join('|') : key
}

/** Everything a careless upstream may say of a key, with what it was just sent. */
function quoted(key: string, type: number): string {
  const texts = [key, ...secretParts(type, key)]
  return texts
    .flatMap((text) => [
      text,
      encodeURIComponent(text),
      Buffer.from(text).toString('base64'),
      Buffer.from(`user:${text}`).toString('base64url'),
    ])
    .join(' , ')
}

/** How the upstream answers next. */
let answer: (asked: string) => { status: number; contentType?: string; body: string }

const upstream = createServer((request, response) => {
  const asked = `${request.url} ${JSON.stringify(request.headers)}`
  request.resume().on('end', () => {
    const { status, contentType = 'application/json', body } = answer(asked)
    response.writeHead(status, { 'content-type': contentType }).end(body)
  })
})
const listening = await listenLocally(upstream)
const origin = listening.url
const app = await startApp()
await allowUnpriced(app)
await setOptions(app, { LogErrorEnabled: 'true', RetryTimes: '0' })
const admin = await app.make.user({ role: roles.admin })
const token = await app.make.token(await app.make.user({ quota: 1_000_000_000 }))
const processLog = recordProcessLog(app)
beforeEach(async () => {
  processLog.length = 0
  const { rows } = await app.pool.query<{ first: string }>('select pg_snapshot_xmin(pg_current_snapshot()) as first')
  since = rows[0]?.first ?? ''
})
afterAll(async () => {
  await closeWithoutViolations(app)
  await listening[Symbol.asyncDispose]()
})

const failing = (words: string) => ({
  status: 401,
  body: JSON.stringify({ error: { message: words, type: words, code: words, param: words } }),
})

/** The first transaction that may write what a test leaves: what others left is not searched again and again. */
let since: string

/** Where people below root read, as far as it was written since this test began. */
async function everythingStored(): Promise<string> {
  const written = 'where xmin::text::bigint >= $1'
  const tables = ['logs', 'channel_probes', 'drawing_tasks', 'music_tasks']
  const rows = await Promise.all(tables.map((table) => app.pool.query(`select * from ${table} ${written}`, [since])))
  const reasons = await app.pool.query(
    `select status_reason from channels ${written} union select status_reason from channel_keys ${written}`,
    [since],
  )
  return JSON.stringify([...rows.map((table) => table.rows), reasons.rows])
}

/** Ten characters in a row of any secret, plain or packed. */
function expectSilence(text: string, { type, key }: { type: number; key: string }): void {
  const forms = secretParts(type, key).flatMap((part) => [
    part,
    JSON.stringify(part).slice(1, -1),
    encodeURIComponent(part),
    Buffer.from(part).toString('base64'),
  ])
  for (const form of forms) {
    for (let at = 0; at + 10 <= form.length; at += 1) {
      const piece = form.slice(at, at + 10)
      if (text.includes(piece)) throw new Error(`${piece} is told in ${text.slice(0, 3000)}`)
    }
  }
}

const chatTypes = selectableChannelTypes.filter(({ supports }) => supports.chat)

describe.each(chatTypes)('an upstream of type $type ($name) that repeats the key in its failures', (row) => {
  test('shows no part of it to callers, in log rows, on the console and in the process log', async () => {
    const { type } = row
    const key = keyOf(row)
    const model = `secret-${type}`
    const other = type === 21 || type === 49 ? 'library' : ''
    const { id } = await app.make.channel({ type, key, models: model, baseUrl: origin, other, autoBan: false })
    await app.services.channels.reload(id)
    answer = (asked) => failing(`Incorrect key: ${quoted(key, type)}; you sent ${asked}`)
    const outputs: string[] = []
    for (const stream of [false, true]) {
      const reply = await say(app, chat, { token, body: chat.body(model, 'hi', stream) })
      outputs.push(await reply.text(), JSON.stringify([...reply.headers]))
      expect(reply.status).toBeGreaterThanOrEqual(400)
    }
    outputs.push(await (await app.relay(token, '/v1/embeddings', { model, input: 'hi' })).text())
    const { channels } = app.trpc(admin).admin
    const refusal = (error: unknown) => JSON.stringify([String(error), error])
    outputs.push(JSON.stringify(await channels.probe.mutate({ id, model }).catch(refusal)))
    outputs.push(JSON.stringify(await channels.fetchModelsOf.mutate({ id }).catch(refusal)))
    outputs.push(JSON.stringify(await channels.updateBalance.mutate({ id }).catch(refusal)))
    expectSilence(outputs.join('\n'), { type, key })
    expectSilence(await everythingStored(), { type, key })
    expectSilence(processLog.join('\n'), { type, key })
  })
})

describe('the key of a channel', () => {
  const type = 15
  const key = 'AKfirst81QmPv93|wJalr/XUtn+FEMI7MDENG'

  test('is masked in an answer that is no JSON, in a false success, and in a stream that fails', async () => {
    const { id } = await app.make.channel({ type: 1, key, models: 'broken', baseUrl: origin, autoBan: false })
    await app.services.channels.reload(id)
    const words = quoted(key, type)
    const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
    const first = event({ choices: [{ index: 0, delta: { role: 'assistant', content: 'hello' } }] })
    const answers = [
      { status: 500, contentType: 'text/plain', body: words },
      { status: 200, body: words },
      { status: 200, body: JSON.stringify({ error: { message: words } }) },
      {
        status: 200,
        contentType: 'text/event-stream',
        body: first + event({ error: { message: words, code: words } }),
      },
      { status: 200, contentType: 'text/event-stream', body: event({ error: { message: words } }) },
    ]
    for (const one of answers) {
      answer = () => one
      for (const stream of [false, true]) {
        const reply = await say(app, chat, { token, body: chat.body('broken', 'hi', stream) })
        expectSilence(await reply.text(), { type, key })
      }
      const probed = await app.trpc(admin).admin.channels.probe.mutate({ id, model: 'broken' })
      expectSilence(JSON.stringify(probed), { type, key })
    }
    expectSilence(await everythingStored(), { type, key })
    expectSilence(processLog.join('\n'), { type, key })
  })

  test('is masked where the product itself fails with the key in its own error', async () => {
    const { id } = await app.make.channel({ type: 1, key, models: 'faulty', baseUrl: origin, autoBan: false })
    await app.services.channels.reload(id)
    const sending = vi.spyOn(app.services.transport, 'send').mockImplementation(() => {
      throw new TypeError(`Invalid value: ${quoted(key, type)}`, { cause: new Error(key) })
    })
    const outputs: string[] = []
    try {
      for (const stream of [false, true])
        outputs.push(await (await say(app, chat, { token, body: chat.body('faulty', 'hi', stream) })).text())
      for (const path of ['/v1/embeddings', '/v1/responses/input_tokens'])
        outputs.push(await (await app.relay(token, path, { model: 'faulty', input: 'hi' })).text())
      outputs.push(String(await app.trpc(admin).admin.channels.probe.mutate({ id, model: 'faulty' }).catch(String)))
      expect(sending).toHaveBeenCalled()
    } finally {
      sending.mockRestore()
    }
    expectSilence(outputs.join('\n'), { type, key })
    expectSilence(await everythingStored(), { type, key })
    expectSilence(processLog.join('\n'), { type, key })
  })

  test('is masked in the reason for which it was disabled', async () => {
    const { id } = await app.make.channel({ type: 1, key, models: 'dead', baseUrl: origin })
    await app.services.channels.reload(id)
    await app.pool.query('insert into channel_keys (channel_id, position, key_hmac) values ($1, 0, $2)', [
      id,
      app.services.secrets.hmac(key),
    ])
    await setOptions(app, { AutomaticDisableChannelEnabled: 'true', 'global.hide_upstream_error_enabled': 'true' })
    answer = () => ({
      status: 401,
      body: JSON.stringify({ error: { message: quoted(key, type), code: 'invalid_api_key' } }),
    })
    const reply = await say(app, chat, { token, body: chat.body('dead', 'hi', false) })
    expectSilence(await reply.text(), { type, key })
    await expect
      .poll(async () => (await app.pool.query('select status from channels where id = $1', [id])).rows[0].status)
      .toBe(3)
    expectSilence(await everythingStored(), { type, key })
    await setOptions(app, { AutomaticDisableChannelEnabled: 'false', 'global.hide_upstream_error_enabled': 'false' })
  })

  test('is masked in drawings and music that fail at once or later', async () => {
    const words = quoted(key, type)
    const holder = { user: admin, token }
    const drawing = await app.make.channel({ type: 5, key, models: drawingModels, baseUrl: origin })
    const music = await app.make.channel({ type: 36, key, models: 'suno_music,suno_lyrics', baseUrl: origin })
    for (const { id } of [drawing, music]) await app.services.channels.reload(id)
    const outputs: string[] = []
    for (const body of [
      { code: 1, description: words, result: '77' },
      { code: 24, description: words },
    ]) {
      answer = () => ({ status: 200, body: JSON.stringify(body) })
      outputs.push((await imagine(app, holder)).text)
    }
    for (const body of [
      { code: 'success', data: 'job-1', message: words },
      { code: 'failed', message: words },
    ]) {
      answer = () => ({ status: 200, body: JSON.stringify(body) })
      outputs.push(await (await app.relay(token, '/suno/submit/music', { prompt: 'a song' })).text())
    }
    const report = { status: 'FAILURE', failReason: words, fail_reason: words, description: words }
    answer = (asked) => ({
      status: 200,
      body: JSON.stringify(
        asked.includes('/suno/')
          ? { code: 'success', data: [{ ...report, task_id: 'job-1', data: { error: words } }] }
          : [{ ...report, id: '77' }],
      ),
    })
    const reportLater = answer
    answer = () => ({ status: 200, body: words })
    await poll(app)
    answer = reportLater
    await poll(app)
    const stored = await app.pool.query(
      "select status from drawing_tasks where mj_id = '77' union all select status from music_tasks",
    )
    expect(stored.rows.map(({ status }) => status)).toEqual(['FAILURE', 'FAILURE'])
    expectSilence(outputs.join('\n'), { type, key })
    expectSilence(await everythingStored(), { type, key })
    expectSilence(processLog.join('\n'), { type, key })
  })
})

test('a login that is refused reveals no part of the key, whatever the call is for', async () => {
  const given = JSON.parse(keysOfFormat['service-account-json'] ?? '{}') as Record<string, unknown>
  const secret = { type: 41, key: JSON.stringify(given) }
  const key = JSON.stringify({ ...given, token_uri: `${origin}/token` })
  const { id } = await app.make.channel({ type: 41, key, models: 'login', baseUrl: origin, autoBan: false })
  await app.services.channels.reload(id)
  const words = quoted(secret.key, secret.type)
  const refusals = [failing(words), { status: 200, body: JSON.stringify({ error: words, error_description: words }) }]
  for (const refusal of refusals) {
    answer = () => refusal
    const contents = [{ parts: [{ text: 'hi' }] }]
    const replies = [
      await say(app, chat, { token, body: chat.body('login', 'hi', false) }),
      await app.relay(token, '/v1beta/models/login:countTokens', { contents }),
      await app.relay(token, '/v1/embeddings', { model: 'login', input: 'hi' }),
    ]
    const { channels } = app.trpc(admin).admin
    const rendered = await Promise.all(replies.map((reply) => reply.text()))
    rendered.push(JSON.stringify(await channels.probe.mutate({ id, model: 'login' })))
    rendered.push(String(await channels.fetchModelsOf.mutate({ id }).catch((error: unknown) => error)))
    expect(replies.map(({ status }) => status >= 400)).toEqual([true, true, true])
    expectSilence(rendered.join('\n'), secret)
  }
  expectSilence(await everythingStored(), secret)
  expectSilence(processLog.join('\n'), secret)
})

/** The simulated provider repeats in its error what it is asked to say. */
test('an error within a realtime session shows no part of the key', async () => {
  const key = 'sk-Zx81QmPv93LrTw60BnYc'
  const model = 'realtime-secret'
  const { id } = await app.make.channel({ type: 1, key, models: model })
  await app.services.channels.reload(id)
  const session = await open({ url: app.url, key: token.key, model })
  await session.next('session.created')
  session.say({ type: `no.such.event ${key}` })
  const event = await session.next('error')
  expect(JSON.stringify(event)).toContain('***')
  expectSilence(JSON.stringify(event), { type: 1, key })
  session.socket.close()
})
