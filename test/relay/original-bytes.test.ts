import { expect, test } from 'vitest'
import { serve } from './serve.ts'
import { callerDialects } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'

const { app, scripted, token } = await startScriptedRelay()

/** Written as no serialiser would write it: odd blanks, escapes, numbers and order of fields. */
const long = `"${'caf\\u00e9 \\/ \\ud83d\\ude00 \\t好 '.repeat(13_000)}"`
const bodies: Record<string, { type: number; path: (model: string) => string; body: (model: string) => string }> = {
  'a chat': {
    type: 1,
    path: () => '/v1/chat/completions',
    body: (model) =>
      `{ "temperature":1.0,"messages" : [ {"content":${long},"role":"user"}\n],\t"model":"${model}","odd":{"b":1e0,"a":[ ]} }`,
  },
  'a streamed chat that asks for usage': {
    type: 1,
    path: () => '/v1/chat/completions',
    body: (model) =>
      `{"stream_options":{ "include_usage":true },"stream" : true,"model":"${model}","messages":[{"role":"user","content":${long}}]}`,
  },
  'a response': {
    type: 1,
    path: () => '/v1/responses',
    body: (model) => `{"input": ${long}, "model":"${model}" ,"store":false}`,
  },
  'a message': {
    type: 14,
    path: () => '/v1/messages',
    body: (model) =>
      `{"max_tokens":10e0, "messages":[{"role":"user","content":[{"text":${long},"type":"text"}]}],"model":"${model}"}`,
  },
  'a generation': {
    type: 24,
    path: (model) => `/v1beta/models/${model}:generateContent`,
    body: () => `{ "contents":[{"parts":[{"text":${long}}]}] }`,
  },
}

test.each(Object.keys(bodies))(
  '%s of 400 KB that needs no change goes on as the very bytes that came',
  async (name) => {
    const { type, path, body } = bodies[name] as NonNullable<(typeof bodies)[string]>
    const { model } = await serve(app, { type, baseUrl: scripted.play({ status: 400, steps: ['{}'] }) })
    const bytes = Buffer.from(body(model))
    expect(bytes.length).toBeGreaterThan(400_000)
    await (await app.relay(token, path(model), bytes)).text()
    expect(scripted.received.at(-1)?.bytes.equals(bytes)).toBe(true)
  },
)

test('where the model has another name upstream, only that name is written anew', async () => {
  const { model, ids } = await serve(app, { baseUrl: scripted.play({ status: 400, steps: ['{}'] }) })
  await app.pool.query('update channels set model_mapping = $1 where id = $2', [`{"${model}":"other"}`, ids[0]])
  await app.services.channels.reload(ids[0])
  const body = `{ "model":"${model}" , "messages":[{"role":"user","content":${long}}], "seed":1.0 }`
  await (await app.relay(token, '/v1/chat/completions', body)).text()
  const sent = String(scripted.received.at(-1)?.bytes)
  expect(sent).toBe(`{"model":"other","messages":[{"role":"user","content":${long}}],"seed":1.0}`)
})

const wide = '90071992547409931234'
const argumentsText = `{"id":${wide}}`
const asked = `"tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{"id":{"type":"integer","maximum":${wide}}}}}}]`
const history = `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":${JSON.stringify(argumentsText)}}}]},{"role":"tool","tool_call_id":"c1","content":${JSON.stringify(argumentsText)}}]`

test.each([
  { type: 14, form: 'messages', answer: `{"type":"tool_use","id":"t","name":"find","input":{"id":${wide}}}` },
  { type: 24, form: 'generations', answer: `{"functionCall":{"name":"find","args":{"id":${wide}}}}` },
])('whole numbers beyond 2^53 pass through $form in both directions', async ({ type, answer }) => {
  const reply =
    type === 14
      ? `{"id":"m","type":"message","role":"assistant","model":"m","content":[${answer}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`
      : `{"candidates":[{"content":{"role":"model","parts":[${answer}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`
  const baseUrl = scripted.play({ headers: { 'content-type': 'application/json' }, steps: [reply] })
  const { model } = await serve(app, { type, baseUrl })
  const body = `{"model":"${model}","messages":${history},${asked}}`
  const text = await (await app.relay(token, '/v1/chat/completions', body)).text()
  expect(text).toContain(JSON.stringify(argumentsText).slice(1, -1))
  const sent = String(scripted.received.at(-1)?.bytes)
  // The schema, the arguments and, where results are objects, the result.
  expect(sent.match(new RegExp(wide, 'g'))).toHaveLength(3)
  for (const dialect of callerDialects.filter(
    ({ dialect: name }) => name === 'messages' || name === 'generateContent',
  )) {
    const path = dialect.path(model, false)
    const turn =
      dialect.dialect === 'messages'
        ? `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"find","input":{"id":${wide}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}]}`
        : `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"find","args":{"id":${wide}}}}]},{"role":"user","parts":[{"functionResponse":{"name":"find","response":{"id":${wide}}}}]}]}`
    expect(await (await app.relay(token, path, turn)).text()).toContain(`"id":${wide}`)
    expect(String(scripted.received.at(-1)?.bytes)).toContain(`"id":${wide}`)
  }
})
