import { describe, expect, test } from 'vitest'
import { sparkKeyText } from '#test/simulator/spark/vendor.ts'
import { serve, type Route, withOptions } from './serve.ts'
import { chat, consumed, eventually, say } from './caller-dialects.ts'
import { user, vendorWorld, weather, servesEveryDialect, isNeverFinished } from './vendors.ts'
import { startRelay } from './relay-world.ts'

const { app, token } = await startRelay({ options: { RetryTimes: '0' } })

// The names of the tests' models have one dash, so that what follows it is the version.
const spark = (does = 'usage=20:10', key = sparkKeyText): Route => ({ type: 18, key, does })

// Without a price of its own a token costs 37.5, both ways.
const rate = 37.5

describe('Spark over its signed socket', () => {
  test('answers unstreamed and streamed, with the usage that the vendor reports, which is charged', async () => {
    const { model, ask, sent } = await vendorWorld(app, token, spark())
    const version = model.split('-')[1]
    for (const stream of [false, true]) {
      const answer = await ask([{ role: 'system', content: 'Be brief.' }, user('hello')], {
        stream,
        fields: { max_tokens: 50, temperature: 1.5, top_k: 9 },
      })
      expect(answer).toMatchObject({ text: 'You said: hello', finish: 'stop', ended: true })
      expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 })
      expect(answer.row).toMatchObject({ quota: 30 * rate, prompt_tokens: 20, completion_tokens: 10 })
      expect(sent()?.path).toBe(`/${version}/chat`)
      expect(sent()?.body).toMatchObject({
        header: { app_id: 'simulated-app' },
        parameter: { chat: { domain: `general${version}`, temperature: 1, top_k: 6, max_tokens: 50 } },
      })
    }
  })

  test('calls functions, and is sent their results', async () => {
    const { ask } = await vendorWorld(app, token, spark())
    for (const stream of [false, true]) {
      const question = user('get_weather of Paris, city is Paris')
      const asked = await ask([question], { stream, fields: { tools: [weather] } })
      expect(asked).toMatchObject({ finish: 'tool_calls', calls: [{ name: 'get_weather' }] })
      const [call] = asked.calls
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Paris' })
      const made = { id: call?.id, type: 'function', function: { name: call?.name, arguments: call?.arguments } }
      const answer = await ask(
        [
          question,
          { role: 'assistant', content: null, tool_calls: [made] },
          { role: 'tool', tool_call_id: call?.id, content: '21 degrees' },
        ],
        { stream },
      )
      expect(answer).toMatchObject({ text: 'You said: 21 degrees', finish: 'stop' })
    }
  })

  test('serves every dialect of callers', async () => {
    await servesEveryDialect(app, token, spark())
  })

  test('a rate limit is a 429, and the call is retried', async () => {
    for (const stream of [false, true]) {
      const busy = `errorevent=0,code=11202,message=limit-${stream}`
      const { model } = await serve(app, spark(busy))
      const refused = await say(app, chat, { token, model, stream })
      expect(refused.status).toBe(429)
      expect(await refused.json()).toMatchObject({ error: { code: '11202' } })
      await withOptions(app, { RetryTimes: '1' }, async () => {
        const { model: recovering } = await serve(app, spark(`${busy},fail=1,usage=20:10`))
        const from = app.upstream.requests.length
        const answer = await say(app, chat, { token, model: recovering, stream })
        expect(answer.status).toBe(200)
        expect(await answer.text()).toContain('hello')
        expect(app.upstream.requests.length - from).toBe(2)
      })
    }
  })

  test('refuses a wrong signature with its own words, and nothing is charged', async () => {
    for (const [key, words] of [
      ['simulated-app|wrong-secret|simulated-key', 'signature does not match'],
      ['simulated-app|simulated-secret|wrong-key', 'cannot be verified'],
    ] as const) {
      const { model } = await serve(app, spark('words=2', key))
      const before = (await consumed(app)).length
      const refused = await say(app, chat, { token, model })
      expect(refused.status).toBe(401)
      const text = await refused.text()
      expect(text).toContain(words)
      expect(text).not.toContain('secret')
      expect((await consumed(app)).length).toBe(before)
    }
  })

  test('that fails, is cut, closes early or sends a broken frame is never taken for finished', async () => {
    await isNeverFinished(
      app,
      token,
      ['words=9,errorevent=4', 'words=9,cut=5', 'words=9,fin=5', 'words=9,malformed=5'].map((does) => spark(does)),
    )
  })

  test('is disconnected when its caller hangs up, and what was delivered is charged', async () => {
    const { model } = await serve(app, spark('words=200,gap=20'))
    const before = (await consumed(app)).length
    const leave = new AbortController()
    const reply = await say(app, chat, { token, model, stream: true, signal: leave.signal })
    const reader = reply.body?.getReader()
    await reader?.read()
    leave.abort()
    await reader?.closed.catch(() => {})
    await eventually(
      () => consumed(app),
      (rows) => rows.length > before,
    )
    const outcome = await eventually(
      () => Promise.resolve(app.upstream.requests.at(-1)?.outcome),
      (seen) => seen !== 'open',
    )
    expect(outcome).toBe('aborted')
    expect((await consumed(app)).length - before).toBe(1)
  })

  test('is given up when it sends nothing in time, before its answer and inside it', async () => {
    const setting = JSON.stringify({ connect_timeout: 0.3, first_byte_timeout: 0.3, idle_timeout: 0.3 })
    for (const does of ['words=9,stall=0', 'words=9,stall=3', 'hang']) {
      const { model } = await serve(app, { ...spark(does), setting })
      const reply = await say(app, chat, { token, model })
      expect(reply.status, does).toBeGreaterThanOrEqual(500)
    }
  })
})
