import { createServer } from 'node:http'
import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { serverOptions } from '#server/serve.ts'
import { answerUnread } from '#server/unread-requests.ts'
import { startApp } from '#test/support/app.ts'
import { listenLocally } from '#test/support/local-server.ts'

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())

type Reply = { status: number; headers: string; body: unknown }

/** Bytes as they are, and what comes back until the connection is closed; a client that sends on afterwards is answered all the same. */
async function sendTo(url: string, ...packets: string[]): Promise<Reply> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setNoDelay()
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
  // One that still sends a second after its answer may be reset; the answer has come all the same.
  socket.on('error', () => {}).on('close', () => resolve(text))
  for (const packet of packets) {
    await new Promise((sent) => socket.write(packet, sent))
    // One after the other, so that each is read by itself.
    await new Promise(setImmediate)
  }
  const [headers = '', body = ''] = (await promise).split('\r\n\r\n')
  return { status: Number(headers.split(' ')[1]), headers: headers.toLowerCase(), body: JSON.parse(body) }
}

const send = (...packets: string[]) => sendTo(app.url, ...packets)

const tooLong = (method: string, path: string, headers = '') =>
  send(`${method} ${path}?q=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`)

const english = 'The address or the headers are too long'
const openAi = { error: { message: english, type: 'gateway_error', param: null, code: null } }

describe('an address that is far too long', () => {
  test.each([
    ['/api/user/self', { success: false, message: english }],
    ['/v1/chat/completions', openAi],
    ['/hf/v1/responses', openAi],
    ['/pg/chat/completions', openAi],
    ['/rerank', openAi],
    ['/v1/unknown', openAi],
    ['/v1/messages', { type: 'error', error: { type: 'invalid_request_error', message: english } }],
    [
      '/v1beta/models/m:generateContent',
      { error: { code: 431, message: english, status: 'INVALID_ARGUMENT', details: [] } },
    ],
    ['/mj-fast/mj/submit/imagine', { description: english, type: 'upstream_error', code: 4, ...openAi }],
    [
      '/suno/submit/music',
      {
        code: 'input.head_too_long',
        message: english,
        data: null,
        error: { ...openAi.error, code: 'input.head_too_long' },
      },
    ],
    ['/app/tokens', { error: { message: english, type: 'invalid_request_error', param: '', code: '' } }],
  ])('is refused on %s in the form of that path', async (path, body) => {
    const reply = await tooLong('POST', path, 'Accept-Language: en\r\n')
    expect(reply).toMatchObject({ status: 431, body })
    expect(reply.headers).toContain('content-type: application/json')
    // Pages of others may read what the relay says, as they may any other answer of it.
    expect(reply.headers.includes('access-control-allow-origin: *')).toBe(!/^\/(api|app)/.test(path))
  })

  test('is refused in the language of its reader, in Chinese where nobody can tell', async () => {
    expect((await tooLong('GET', '/api/status')).body).toMatchObject({ message: '请求地址或请求头过长' })
    expect((await tooLong('GET', '/v1/models', 'X-Stainless-Lang: js\r\n')).body).toMatchObject(openAi)
  })

  test('is refused in both forms where its path came in an earlier packet', async () => {
    const reply = await send('GET /v1/models?q=', ...Array.from({ length: 4 }, () => 'x'.repeat(8000)))
    const message = '请求地址或请求头过长'
    expect(reply).toMatchObject({ status: 431, body: { success: false, message, error: { message } } })
  })
})

test('headers that do not end are refused in both forms, for nobody can tell which path they belong to', async () => {
  const server = createServer({ ...serverOptions, headersTimeout: 1, connectionsCheckingInterval: 1 })
  answerUnread(server)
  await using local = await listenLocally(server)
  const reply = await sendTo(local.url, 'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')
  const message = '请求头发送过慢'
  const error = { message, type: 'invalid_request_error', param: '', code: '' }
  expect(reply).toMatchObject({ status: 408, body: { success: false, message, error } })
  expect(reply.headers).toMatch(/^http\/1\.1 408 request timeout\r\n/)
  expect(reply.headers).toContain('connection: close')
})

test('headers that are too long, or none, are refused alike, and the next request is served', async () => {
  const long = await send(`GET /api/status HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'y'.repeat(1_000_000)}\r\n\r\n`)
  expect(long).toMatchObject({ status: 431, body: { success: false } })
  const nonsense = await send('GET /api/status HTTP/1.1\r\nno colon in this line\r\n\r\n')
  expect(nonsense).toMatchObject({ status: 400, body: { success: false, message: '请求行或请求头无法解析' } })
  expect((await fetch(`${app.url}/api/status`)).status).toBe(200)
})
