import { describe, expect, test } from 'vitest'
import { serve } from './serve.ts'
import { chat, consumed, say } from './caller-dialects.ts'
import { image, user, vendorWorld, servesEveryDialect } from './vendors.ts'
import { startRelay } from './relay-world.ts'

const { app, token } = await startRelay({ options: { RetryTimes: '0' } })

const bot = (does = 'usage=20:10') => ({ type: 49, other: '73428668', does })

// Without a price of its own a token costs 37.5, both ways.
const rate = 37.5

describe('a bot of Coze', () => {
  test('answers unstreamed and streamed, with the usage that the vendor reports, which is charged', async () => {
    const { ask, sent } = await vendorWorld(app, token, bot())
    for (const stream of [false, true]) {
      const answer = await ask([{ role: 'system', content: 'Be brief.' }, user('hello')], {
        stream,
        fields: { user: 'u' },
      })
      expect(answer).toMatchObject({ text: 'You said: hello', finish: 'stop', ended: true })
      expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 })
      expect(answer.row).toMatchObject({ quota: 30 * rate, prompt_tokens: 20, completion_tokens: 10 })
      expect(sent()?.path).toBe('/v3/chat')
      expect(sent()?.body).toEqual({
        bot_id: '73428668',
        user_id: 'u',
        stream: true,
        auto_save_history: true,
        additional_messages: [
          { role: 'user', type: 'question', content_type: 'text', content: 'Be brief.' },
          { role: 'user', type: 'question', content_type: 'text', content: 'hello' },
        ],
      })
    }
  })

  test('reads images, whose bytes are uploaded before the call', async () => {
    const { ask } = await vendorWorld(app, token, bot())
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: image } },
    ]
    const seen = await ask([user(content)])
    expect(seen.text).toMatch(/^Image image\/png \d+ bytes sha256 [0-9a-f]{16}\. You said: look$/)
    const address = 'https://pictures.example/one.png'
    const named = await ask([user([content[0], { type: 'image_url', image_url: { url: address } }])])
    expect(named.text).toBe(`image ${address}. You said: look`)
  })

  test('serves every dialect of callers', async () => {
    await servesEveryDialect(app, token, bot())
  })

  test('that refuses with HTTP 200, fails in mid-stream or is cut is never taken for finished', async () => {
    const { model } = await serve(app, { ...bot(), key: 'bad-key' })
    const refused = await say(app, chat, { token, model })
    expect(refused.status).toBe(401)
    expect(await refused.text()).toContain('authentication is invalid')
    for (const does of ['words=9,errorevent=5', 'words=9,cut=6', 'words=9,fin=6', 'words=9,malformed=6']) {
      const { model: failing } = await serve(app, bot(does))
      const before = (await consumed(app)).length
      const text = await (await say(app, chat, { token, model: failing, stream: true })).text()
      expect(text, does).toContain('"error"')
      expect(text, does).not.toContain('[DONE]')
      expect((await consumed(app)).length - before).toBe(1)
    }
  })

  test('is not called without its id', async () => {
    const { model } = await serve(app, { ...bot(), other: '' })
    const reply = await say(app, chat, { token, model })
    expect(reply.status).toBe(400)
    expect(await reply.text()).toContain('渠道没有填写智能体 ID')
  })
})

test('an application of Dify is sent the bytes of images before the call, by the same user', async () => {
  const { ask } = await vendorWorld(app, token, { type: 37 })
  const from = app.upstream.requests.length
  const seen = await ask([
    user([
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: image } },
    ]),
  ])
  expect(seen.text).toMatch(/^Image image\/png \d+ bytes sha256 [0-9a-f]{16}\./)
  const [upload, call] = app.upstream.requests.slice(from)
  expect(upload).toMatchObject({ path: '/v1/files/upload', body: { file: { type: 'image/png' } } })
  expect(call).toMatchObject({ path: '/v1/chat-messages' })
  const userOf = (request: typeof call) => (request?.body as { user?: string } | undefined)?.user
  expect(userOf(upload)).toBe(userOf(call))
})
