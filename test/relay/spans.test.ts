import { afterAll, expect, test } from 'vitest'
import { createTracing } from '#relay/tracing/spans.ts'
import { readEnvironment } from '#server/env.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startRelay } from './relay-world.ts'
import { serve } from './serve.ts'

type Value = { stringValue?: string; intValue?: number; doubleValue?: number; boolValue?: boolean }
type Wire = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: { key: string; value: Value }[]
  links?: { traceId: string; spanId: string }[]
  status: { code?: number }
}
type Exported = { resourceSpans: { resource: { attributes: Wire['attributes'] }; scopeSpans: { spans: Wire[] }[] }[] }

const server = 2
const client = 3
const [trace, callersSpan] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
const prompt = 'a sentence that nobody else may read'

const collector = await startReceiver()
const upstream = await startReceiver()
afterAll(async () => {
  await collector[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})
const { app, token } = await startRelay({
  environment: {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '5',
    TRUST_PROXY: '1',
  },
  options: { RetryTimes: '1' },
})

const valuesOf = (attributes: Wire['attributes']) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]))

const received = (): Wire[] =>
  collector.received.flatMap(({ text }) =>
    (JSON.parse(text) as Exported).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  )

/** The spans of a call, once its own has ended. */
async function spansOf(
  requestId: string | null,
): Promise<{ call: Wire; rest: Wire[]; values: Record<string, unknown> }> {
  const own = () => received().find(({ attributes }) => valuesOf(attributes)['gateway.request.id'] === requestId)
  await expect.poll(own).toBeDefined()
  const call = own() as Wire
  return {
    call,
    rest: received().filter(({ traceId, spanId }) => traceId === call.traceId && spanId !== call.spanId),
    values: valuesOf(call.attributes),
  }
}

/** A call that its first place refuses and its second answers. */
async function callTwice(headers: Record<string, string> = {}) {
  const { model, ids } = await serve(
    app,
    { baseUrl: `${upstream.url}/first`, key: 'sk-first', priority: 2 },
    { baseUrl: `${upstream.url}/second`, key: 'sk-second', priority: 1, type: 14 },
  )
  upstream.received.length = 0
  upstream.answerWith(({ path }) =>
    path.startsWith('/first')
      ? { status: 500, body: { error: { message: `cannot read: ${prompt}`, type: prompt } } }
      : {
          body: {
            id: 'm',
            type: 'message',
            role: 'assistant',
            model,
            content: [{ type: 'text', text: 'an answer of the model' }],
            stop_reason: 'end_turn',
            usage: { input_tokens: 11, output_tokens: 7 },
          },
        },
  )
  const messages = [{ role: 'user', content: prompt }]
  const reply = await app.relay(token, '/v1/chat/completions', { model, messages }, { headers })
  expect(reply.status).toBe(200)
  await reply.text()
  return { model, ids, requestId: reply.headers.get('x-request-id') }
}

test('a call is reported as a span, with one for each attempt, for what is set aside and for the charge', async () => {
  const { model, ids, requestId } = await callTwice()
  const { call, rest, values } = await spansOf(requestId)
  expect(call).toMatchObject({ name: 'POST /v1/chat/completions', kind: server })
  const { rows } = await app.pool.query('select quota from logs where model_name = $1 and type = 2', [model])
  const request = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model, 'gen_ai.request.stream': false }
  const usage = { 'gen_ai.usage.input_tokens': 11, 'gen_ai.usage.output_tokens': 7 }
  expect(values).toMatchObject({
    ...request,
    ...usage,
    'http.response.status_code': 200,
    'gateway.user.id': token.userId,
    'gateway.token.id': token.id,
    'gateway.quota': Number(rows[0]?.quota),
  })
  expect(new Set(rest.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([call.spanId]))
  const [failed, answered] = rest.filter(({ kind }) => kind === client) as [Wire, Wire]
  expect(failed.name).toBe(`chat ${model}`)
  expect(failed.status.code).toBe(2)
  expect(valuesOf(failed.attributes)).toMatchObject({
    ...request,
    'gen_ai.provider.name': 'openai',
    'gateway.channel.id': ids[0],
    'http.response.status_code': 500,
    'error.type': '500',
  })
  expect(answered.status.code ?? 0).toBe(0)
  expect(valuesOf(answered.attributes)).toMatchObject({
    ...usage,
    'gen_ai.provider.name': 'anthropic',
    'gateway.channel.id': ids[1],
    'http.response.status_code': 200,
  })
  const acts = rest.filter(({ kind }) => kind !== client).map(({ name, attributes }) => [name, valuesOf(attributes)])
  expect(acts).toContainEqual(['reserve', expect.objectContaining({ 'gateway.verdict': 'ok' })])
  expect(acts).toContainEqual(['settle', { 'gateway.quota': Number(rows[0]?.quota) }])
})

test('nothing of what a caller or an upstream writes stands in a span, nor a key, nor where the caller is', async () => {
  const { requestId } = await callTwice({ 'x-forwarded-for': '203.0.113.77' })
  await spansOf(requestId)
  const refused = await app.relay('sk-unknown-key-of-somebody', '/v1/chat/completions?key=sk-in-the-address', {
    model: 'a model that is none',
    messages: [{ role: 'user', content: prompt }],
  })
  expect(refused.status).toBe(401)
  const { rest, values } = await spansOf(refused.headers.get('x-request-id'))
  expect(values).toMatchObject({ 'http.response.status_code': 401 })
  expect(rest).toEqual([])
  const sent = collector.received.map(({ text }) => text).join('\n')
  const secrets = [prompt, 'an answer of the model', token.key, 'sk-first', 'sk-second', '203.0.113.77', '127.0.0.1']
  for (const secret of [...secrets, 'sk-unknown-key', 'sk-in-the-address', 'a model that is none'])
    expect(sent).not.toContain(secret)
})

test('a caller’s own span is linked to and upstreams receive none, unless it is set otherwise', async () => {
  const headers = { traceparent: `00-${trace}-${callersSpan}-01`, tracestate: 'vendor=1' }
  const linked = await spansOf((await callTwice(headers)).requestId)
  expect(linked.call.links).toMatchObject([{ traceId: trace, spanId: callersSpan }])
  expect(linked.call.traceId).not.toBe(trace)
  expect(linked.call.parentSpanId ?? '').toBe('')
  expect(upstream.received).toHaveLength(2)
  for (const { headers: sent } of upstream.received) {
    expect(sent['traceparent']).toBeUndefined()
    expect(sent['tracestate']).toBeUndefined()
  }

  Object.assign(app.services.environment, { TRACE_CALLERS: 'parent', TRACE_UPSTREAMS: 'on' })
  try {
    const { call, rest } = await spansOf((await callTwice(headers)).requestId)
    expect(call).toMatchObject({ traceId: trace, parentSpanId: callersSpan })
    const attempts = rest.filter(({ kind }) => kind === client).map(({ spanId }) => `00-${trace}-${spanId}-01`)
    expect(attempts).toHaveLength(2)
    expect(upstream.received.map(({ headers: sent }) => sent['traceparent'])).toEqual(attempts)
  } finally {
    Object.assign(app.services.environment, { TRACE_CALLERS: 'link', TRACE_UPSTREAMS: 'off' })
  }
})

test('spans are sent as protocol buffers where nothing else is said, and the last of them before the process ends', async () => {
  await using binary = await startReceiver(() => ({ status: 204 }))
  const errors: string[] = []
  const tracing = await createTracing({
    environment: readEnvironment({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${binary.url}/own/path` }),
    version: '1',
    onError: (message) => errors.push(message),
  })
  const closed: (() => void)[] = []
  const res = { on: (_: string, then: () => void) => closed.push(then), writableFinished: true, statusCode: 200 }
  const req = { method: 'POST', headers: {}, route: { path: '/v1/messages' } }
  tracing.began({ id: '1', req, res: res as never, dialect: { id: 'claude' } })
  for (const close of closed) close()
  await tracing.close()
  expect(binary.received.map(({ path, headers }) => [path, headers['content-type']])).toEqual([
    ['/own/path', 'application/x-protobuf'],
  ])
  expect(binary.received[0]?.text).toContain('POST /v1/messages')
  expect(errors).toEqual([])
})
