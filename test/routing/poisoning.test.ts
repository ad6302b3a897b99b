import { beforeEach, describe, expect, test } from 'vitest'
import { cut, type Step } from '#test/support/scripted-upstream.ts'
import { type Route, serve, withOptions } from '../relay/serve.ts'
import { chat, eventually, say } from '../relay/caller-dialects.ts'
import { startScriptedRelay } from '../relay/relay-world.ts'

const options = { AutomaticDisableChannelEnabled: 'true', RetryTimes: '0' }
const { app, scripted, token } = await startScriptedRelay({ options })
beforeEach(() => app.upstream.clear())

/** Channels as the console saves them: with a row for each key. */
async function serveKeyed(...routes: Route[]) {
  const served = await serve(app, ...routes)
  for (const id of served.ids) await keyed(id, ['sk-upstream'])
  return served
}
async function keyed(id: number, keys: string[]): Promise<void> {
  for (const [position, key] of keys.entries())
    await app.pool.query('insert into channel_keys (channel_id, position, key_hmac) values ($1, $2, $3)', [
      id,
      position,
      app.services.secrets.hmac(key),
    ])
}

const statusOf = async (id = 0) =>
  (await app.pool.query<{ status: number }>('select status from channels where id = $1', [id])).rows[0]?.status
/** Long enough for what runs beside the reply. */
const soon = () => new Promise((resolve) => setTimeout(resolve, 300))
const disabled = 3
const untilDisabled = (id = 0) =>
  eventually(
    () => statusOf(id),
    (status) => status === disabled,
  )

const escaped = (text: string) => text.replaceAll('%', '%25').replaceAll(',', '%2C')

describe('no caller switches a channel off', () => {
  test.each([
    ['a model that the upstream does not know', 'status=404,code=model_not_found'],
    ['a prompt that is too long', 'status=400,code=context_length_exceeded'],
    ['a refusal by policy', 'status=400,code=content_policy_violation'],
    ['a picture that is none', 'status=400,code=invalid_image_url'],
    ['too many requests', 'status=429'],
    ['an overloaded upstream', 'status=503'],
    ['a lost connection', 'reset'],
    ['an answer that is none', 'html'],
  ])('with %s', async (_name, does) => {
    const { model, ids } = await serveKeyed({ does })
    for (let call = 0; call < 5; call += 1)
      expect((await say(app, chat, { token, model })).status).toBeGreaterThanOrEqual(400)
    await soon()
    expect(await statusOf(ids[0])).toBe(1)
  })

  test('with a text that looks like a failure that it wrote itself and gets quoted back', async () => {
    const keyword = 'Your credit balance is too low'
    const quoting = `status=400,message=${escaped(`cannot answer: "${keyword.toUpperCase()}"`)}`
    const { model, ids } = await serveKeyed({ does: quoting })
    await say(app, chat, { token, model, text: `say ${keyword}, please` })
    await soon()
    expect(await statusOf(ids[0])).toBe(1)
    await say(app, chat, { token, model, text: 'say nothing' })
    expect(await untilDisabled(ids[0])).toBe(disabled)
  })

  test('however it wrote what is quoted back: in a header, in the query, escaped, or as the name of a file', async () => {
    const quoting = { does: `status=400,message=${escaped('cannot read "Permission denied"')}` }
    const { model, ids } = await serveKeyed(quoting)
    const send = (path: string, init: RequestInit) =>
      fetch(app.url + path, {
        method: 'POST',
        ...init,
        headers: { authorization: `Bearer sk-${token.key}`, ...init.headers },
      })
    const plain = JSON.stringify({ ...Object(chat.body(model, 'hi', false)), user: 'permission denied' })
    const body = plain.replace('permission denied', 'permission\\u0020denied')
    const headers = { 'content-type': 'application/json' }
    const form = new FormData()
    form.set('model', model)
    form.set('file', new File(['x'], 'permission denied.mp3'))
    for (const reply of [
      await say(app, chat, { token, model, headers: { 'anthropic-beta': 'Permission denied' } }),
      await send('/v1/chat/completions?x=permission+denied', { headers, body: body.replace(/,"user".*/, '}') }),
      await send('/v1/chat/completions', { headers, body }),
      await send('/v1/audio/transcriptions', { body: form }),
    ])
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('Permission denied')])
    // Whoever learns of a dead key is answered after that is taken out.
    expect(await statusOf(ids[0])).toBe(1)
    await say(app, chat, { token, model })
    expect(await untilDisabled(ids[0])).toBe(disabled)
  })

  test('by leaving, by asking for too little time, or by naming a broken image', async () => {
    const { model, ids } = await serveKeyed({ does: 'hang' })
    for (let call = 0; call < 5; call += 1) {
      const leave = new AbortController()
      const asked = app.upstream.total
      say(app, chat, { token, model, signal: leave.signal }).catch(() => {})
      await expect.poll(() => app.upstream.total).toBeGreaterThan(asked)
      leave.abort()
    }
    await soon()
    expect(await statusOf(ids[0])).toBe(1)
    expect(app.services.circuitBreaker.coolingDown().filter(({ channelId }) => channelId === ids[0])).toEqual([])
    const { model: seeing, ids: eyes } = await serveKeyed({ type: 24 })
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,bm90IGEgcGljdHVyZQ==' } }]
    await say(app, chat, { token, body: { model: seeing, messages: [{ role: 'user', content }] } })
    await soon()
    expect(await statusOf(eyes[0])).toBe(1)
  })

  test('nor makes it rest: what was wrong with a call is not the channel’s', async () => {
    const { model, ids } = await serveKeyed({})
    for (const text of ['[[status=400]] a', '[[status=404]] b', '[[status=413]] c', '[[status=422]] d'])
      for (let call = 0; call < 5; call += 1) await say(app, chat, { token, model, text })
    expect(app.services.circuitBreaker.coolingDown().filter(({ channelId }) => channelId === ids[0])).toEqual([])
    expect((await say(app, chat, { token, model })).status).toBe(200)
  })
})

describe('a refusal keeps its status, though its words are too many or cut', () => {
  test.each<[string, Step[]]>([
    ['too many', ['x'.repeat(2 * 1024 * 1024)]],
    ['cut', ['{"error":', cut]],
  ])('%s', async (_name, steps) => {
    const baseUrl = scripted.play({ status: 400, headers: { 'content-type': 'application/json' }, steps })
    const { model, ids } = await serveKeyed({ baseUrl }, { baseUrl, priority: 1 })
    const before = scripted.received.length
    await withOptions(app, { RetryTimes: '1' }, async () => {
      for (let call = 0; call < 4; call += 1) expect((await say(app, chat, { token, model })).status).toBe(400)
    })
    expect(scripted.received.length - before).toBe(4)
    expect(app.services.circuitBreaker.coolingDown().filter(({ channelId }) => ids.includes(channelId))).toEqual([])
    const { model: dead, ids: keys } = await serveKeyed({ baseUrl: scripted.play({ status: 401, steps }) })
    expect((await say(app, chat, { token, model: dead })).status).toBe(401)
    expect(await untilDisabled(keys[0])).toBe(disabled)
  })
})

describe('a dead credential is taken out', () => {
  test.each([
    ['status 401', 'status=401', 1],
    ['a telling code', 'status=400,code=account_deactivated', 1],
    ['a telling type', 'status=403,type=permission_error', 14],
    ['403 of the one type that says so', 'status=403', 24],
    [
      'a keyword of the operator’s list',
      `status=400,message=${escaped('You exceeded your current quota, see billing')}`,
      1,
    ],
  ])('by %s, also where the upstream’s words are hidden from callers', async (_name, does, type) => {
    for (const hide of ['false', 'true']) {
      const { model, ids } = await serveKeyed({ type, does })
      await withOptions(app, { 'global.hide_upstream_error_enabled': hide }, async () => {
        const reply = await say(app, chat, { token, model })
        if (hide === 'true') expect(await reply.text()).toContain('upstream returned status')
      })
      expect([hide, await untilDisabled(ids[0])]).toEqual([hide, disabled])
    }
  })

  test('by the phrases that root lists', async () => {
    const { model, ids } = await serveKeyed({ does: `status=400,message=${escaped('the purse is empty')}` })
    await withOptions(app, { AutomaticDisableKeywords: 'Purse is EMPTY' }, async () => {
      await say(app, chat, { token, model })
      expect(await untilDisabled(ids[0])).toBe(disabled)
    })
  })

  test('and the others of its channel go on; the last one takes the channel along', async () => {
    const { id } = await app.make.channel({ models: 'two-keys', key: 'sk-one,sk-two' })
    await keyed(id, ['sk-one', 'sk-two'])
    await app.services.channels.reload(id)
    const die = () => say(app, chat, { token, model: 'two-keys', text: '[[status=401]] dead' })
    await die()
    const dead = app.upstream.requests.at(-1)?.key
    await expect.poll(() => app.services.channels.channel(id)?.keys.filter(({ enabled }) => enabled).length).toBe(1)
    expect(await statusOf(id)).toBe(1)
    app.upstream.clear()
    for (let call = 0; call < 3; call += 1)
      expect((await say(app, chat, { token, model: 'two-keys' })).status).toBe(200)
    expect(app.upstream.requests.every(({ key }) => key !== dead)).toBe(true)
    await die()
    expect(await untilDisabled(id)).toBe(disabled)
    const refused = await eventually(
      () => say(app, chat, { token, model: 'two-keys' }),
      (reply) => reply.status === 503,
    )
    expect(refused.status).toBe(503)
  })

  test('only where the operator and the channel allow it', async () => {
    const { model, ids } = await serveKeyed({ does: 'status=401', autoBan: false })
    await say(app, chat, { token, model })
    await withOptions(app, { AutomaticDisableChannelEnabled: 'false' }, async () => {
      const { model: other, ids: others } = await serveKeyed({ does: 'status=401' })
      await say(app, chat, { token, model: other })
      await soon()
      expect([await statusOf(ids[0]), await statusOf(others[0])]).toEqual([1, 1])
    })
  })
})
