import { describe, expect, test } from 'vitest'
import { awsKeyText } from '#test/simulator/aws/signature.ts'
import { serve } from './serve.ts'
import { chat, say, callerDialects } from './caller-dialects.ts'
import { image, user, vendorWorld, weather, servesEveryDialect, isNeverFinished } from './vendors.ts'
import { startRelay } from './relay-world.ts'

const { app, token } = await startRelay({ options: { RetryTimes: '0' } })

const bedrock = (input: { does?: string } = {}) => ({
  type: 33,
  key: awsKeyText,
  ...(input.does === undefined ? {} : { does: input.does }),
})

/** Models of other vendors than Anthropic are called in the form that all of them share. */
const world = async (input: { does?: string } = {}) => vendorWorld(app, token, bedrock(input))

// Without a price of its own a token costs 37.5, both ways.
const rate = 37.5

describe('a model of another vendor on Bedrock', () => {
  test('answers unstreamed and streamed in binary frames, with the usage that the vendor reports, which is charged', async () => {
    const { model, ask, sent } = await world({ does: 'usage=20:10:8' })
    for (const stream of [false, true]) {
      const answer = await ask([{ role: 'system', content: 'Be brief.' }, user('hello')], { stream })
      expect(answer).toMatchObject({ text: 'You said: hello', finish: 'stop', ended: true })
      expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 })
      expect(answer.usage).toMatchObject({ prompt_tokens_details: { cached_tokens: 8 } })
      expect(answer.row).toMatchObject({ quota: 30 * rate, prompt_tokens: 20, completion_tokens: 10 })
      expect(sent()?.path).toBe(`/model/${model}/converse${stream ? '-stream' : ''}`)
      expect(sent()?.key).toBe('AKIDSIMULATED')
      expect(sent()?.body).toEqual({
        messages: [{ role: 'user', content: [{ text: 'hello' }] }],
        system: [{ text: 'Be brief.' }],
      })
    }
  })

  test('calls tools, is given their results, and reads images', async () => {
    const { ask, sent } = await world()
    for (const stream of [false, true]) {
      const question = user('get_weather of Paris, city is Paris')
      const asked = await ask([question], { stream, fields: { tools: [weather], max_tokens: 50, stop: ['END'] } })
      expect(asked.finish).toBe('tool_calls')
      expect(asked.calls).toMatchObject([{ id: expect.stringMatching(/^tooluse_sim/), name: 'get_weather' }])
      const [call] = asked.calls
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Paris' })
      expect(sent()?.body).toMatchObject({
        inferenceConfig: { maxTokens: 50, stopSequences: ['END'] },
        toolConfig: {
          tools: [{ toolSpec: { name: 'get_weather', inputSchema: { json: weather.function.parameters } } }],
        },
      })
      const made = { id: call?.id, type: 'function', function: { name: call?.name, arguments: call?.arguments } }
      const results = [
        question,
        { role: 'assistant', content: null, tool_calls: [made] },
        { role: 'tool', tool_call_id: call?.id, content: '21 degrees' },
      ]
      // Without tools of its own: the vendor still wants those declared that were used.
      const answer = await ask(results, { stream })
      expect(answer).toMatchObject({ text: 'The tool says: 21 degrees', finish: 'stop' })
      const seen = await ask([
        user([
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: image } },
        ]),
      ])
      expect(seen.text).toMatch(/^Image image\/png \d+ bytes sha256 [0-9a-f]{16}\. You said: look$/)
    }
  })

  test('that streams no calls of tools is asked for them in one piece, which is played back and charged by its usage', async () => {
    const upstream = 'us.meta.llama4-maverick-17b-instruct-v1'
    const { ask, sent } = await vendorWorld(app, token, {
      ...bedrock({ does: 'usage=20:10' }),
      upstreamModel: upstream,
    })
    const question = user('get_weather of Paris, city is Paris')
    const asked = await ask([question], { stream: true, fields: { tools: [weather] } })
    expect(asked).toMatchObject({ finish: 'tool_calls', calls: [{ name: 'get_weather' }], ended: true })
    expect(asked.row).toMatchObject({ is_stream: true, quota: 30 * rate })
    expect(sent()?.path).toBe(`/model/${upstream}/converse`)
    const [call] = asked.calls
    const made = { id: call?.id, type: 'function', function: { name: call?.name, arguments: call?.arguments } }
    const round = [question, { role: 'assistant', content: null, tool_calls: [made] }]
    await ask([...round, { role: 'tool', tool_call_id: call?.id, content: '21 degrees' }], { stream: true })
    expect(sent()?.path).toBe(`/model/${upstream}/converse`)
    await ask([user('hello')], { stream: true })
    expect(sent()?.path).toBe(`/model/${upstream}/converse-stream`)
  })

  test('serves every dialect of callers', async () => {
    await servesEveryDialect(app, token, bedrock())
  })

  test('is refused in its own words: before the answer, by a signature, and in the middle of a stream', async () => {
    const refused = async (does: string, stream = false, key?: string) => {
      const { model } = await serve(app, { ...bedrock({ does }), ...(key === undefined ? {} : { key }) })
      const reply = await say(app, chat, { token, model, stream })
      return { status: reply.status, text: await reply.text() }
    }
    expect(await refused('status=400,message=ValidationX')).toMatchObject({
      status: 400,
      text: expect.stringContaining('ValidationX'),
    })
    // The vendor says 400 where it means that its own limits are reached.
    expect(await refused('status=400,type=ServiceQuotaExceededException')).toMatchObject({ status: 429 })
    expect(await refused('words=1', false, 'bad-key|secret|us-east-1')).toMatchObject({ status: 403 })
    const broken = await refused('words=9,errorevent=4,status=429', true)
    expect(broken.status).toBe(200)
    expect(broken.text).toContain('"error"')
    expect(broken.text).not.toContain('[DONE]')
  })

  test('whose stream is cut, or sends a broken event, is never taken for finished', async () => {
    await isNeverFinished(
      app,
      token,
      ['words=9,cut=5', 'words=9,fin=5', 'words=9,malformed=5'].map((does) => bedrock({ does })),
    )
  })

  test('is read whatever the frames are cut into', async () => {
    const { ask } = await world({ does: 'split=7' })
    expect(await ask([user('hello')], { stream: true })).toMatchObject({ text: 'You said: hello', finish: 'stop' })
  })
})

test('Claude on Bedrock keeps its own dialect, packed into the same frames', async () => {
  const model = 'claude-sonnet-4-5'
  const { id } = await app.make.channel({ ...bedrock(), models: model })
  await app.services.channels.reload(id)
  for (const by of callerDialects) {
    for (const stream of [false, true]) {
      const text = await (await say(app, by, { token, model, stream })).text()
      expect(text).toContain('hello')
      if (stream) expect(text).toMatch(by.closing)
      expect(app.upstream.requests.at(-1)?.path).toBe(
        `/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke${stream ? '-with-response-stream' : ''}`,
      )
    }
  }
})

test('the highest effort of Nova goes without a limit where its answer is metered, and only there', async () => {
  const { model } = await serve(app, { ...bedrock(), upstreamModel: 'nova-2-lite-v1:0' })
  const limited = async (stream: boolean) => {
    const body = { ...chat.body(model, 'hello', stream), max_tokens: 100, reasoning_effort: 'high' }
    const reply = await say(app, chat, { token, body })
    await reply.text()
    expect(reply.status).toBe(200)
    return app.upstream.requests.at(-1)?.body
  }
  expect(await limited(false)).toMatchObject({
    inferenceConfig: { maxTokens: 100 },
    additionalModelRequestFields: { reasoningConfig: { maxReasoningEffort: 'medium' } },
  })
  const metered = await limited(true)
  expect(metered).toMatchObject({ additionalModelRequestFields: { reasoningConfig: { maxReasoningEffort: 'high' } } })
  expect(metered).not.toHaveProperty('inferenceConfig')
})
