import { describe, expect, test } from 'vitest'
import { MalformedUpstream } from '#relay/chat/events.ts'
import { callWith } from '../conformance/fixtures.ts'
import { requestWith } from '../conformance/requests.ts'
import { createFrameReader } from './frames.ts'
import { aws } from './index.ts'
import { toBedrockId } from './model-ids.ts'
import { canonicalRequest, signV4 } from './sign-v4.ts'
import { createHash } from 'node:crypto'

const credential = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const body = '{"anthropic_version":"bedrock-2023-05-31","max_tokens":16,"messages":[{"role":"user","content":"hi"}]}'
const host = 'bedrock-runtime.us-east-1.amazonaws.com'
const payloadHash = '616eb59224eb795b641b4c541ad9ee8b939a1e8798f73b54fce66bb79ddbb992'
const input = {
  method: 'POST',
  url: `https://${host}/model/us.anthropic.claude-3-5-sonnet-20241022-v2%3A0/invoke`,
  headers: { 'content-type': 'application/json' },
  body,
  service: 'bedrock',
  now: new Date('2026-01-02T03:04:05Z'),
}

test('reasoning of a model behind a profile, whose name says no vendor, may be signed by Claude, as it says', () => {
  const model = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x'
  const decoder = aws.chat.stream(callWith({ stream: true, model }))
  const reasoning = (fields: object) => ({
    event: 'contentBlockDelta',
    data: JSON.stringify({ contentBlockIndex: 0, delta: { reasoningContent: fields } }),
  })
  const events = [{ text: 'hm' }, { signature: 's' }].flatMap((fields) => decoder.push(reasoning(fields)))
  expect(events.slice(1)).toEqual([
    { type: 'reasoning-delta', text: 'hm', signer: 'claude' },
    { type: 'reasoning-signature', dialect: 'claude', value: 's' },
  ])
})

describe('signature', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

  test('agrees with the official signer', () => {
    const headersA = { accept: 'application/json', ...input.headers, 'x-amz-content-sha256': payloadHash }
    const date = { 'x-amz-date': '20260102T030405Z', host }
    expect(sha256(canonicalRequest(input, { ...headersA, ...date }).text)).toBe(
      'cc66f286523e49896b2b1f029f7a0ca64787921e53e68b8f6988f5e5e51ccee3',
    )
    expect(sha256(canonicalRequest(input, { ...input.headers, ...date }).text)).toBe(
      'df5e23880691f7f8335ec1b9859f322207ddf9c14cac3761a8e0854e870d0d0e',
    )
    expect(signV4({ ...input, headers: headersA }, credential)['authorization']).toContain(
      'Signature=65c0f41673d4aa226967c149c6a99840732a40fd27c3c8f50a3b13ddbb0779d7',
    )
    expect(signV4(input, credential)['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/bedrock/aws4_request, ' +
        'SignedHeaders=content-type;host;x-amz-date, ' +
        'Signature=64426a2491faf25c0491ef74fc723c1ced7cfd3896dc2b7765c16b18919f9d34',
    )
  })
})

describe('frames', () => {
  const chunk = Buffer.from(
    'AAAAkQAAAEtoSknRCzpldmVudC10eXBlBwAFY2h1bmsNOmNvbnRlbnQtdHlwZQcAEGFwcGxpY2F0aW9uL2pzb24NOm1lc3NhZ2UtdHlwZQcABWV2ZW50eyJieXRlcyI6ImV5SjBlWEJsSWpvaWJXVnpjMkZuWlY5emRHOXdJbjA9IiwicCI6ImFiYyJ9oa68mg==',
    'base64',
  )
  const exception = Buffer.from(
    'AAAAkAAAAGGOkam3DzpleGNlcHRpb24tdHlwZQcAE3Rocm90dGxpbmdFeGNlcHRpb24NOmNvbnRlbnQtdHlwZQcAEGFwcGxpY2F0aW9uL2pzb24NOm1lc3NhZ2UtdHlwZQcACWV4Y2VwdGlvbnsibWVzc2FnZSI6IlRvbyBtYW55IHJlcXVlc3RzIn3mf4AF',
    'base64',
  )
  const expected = [
    { event: 'message_stop', data: '{"type":"message_stop"}' },
    {
      event: 'error',
      data: '{"type":"error","error":{"type":"rate_limit_error","message":"Too many requests"}}',
    },
  ]

  test('are the vendor’s own events, wherever the chunks end', () => {
    const both = Buffer.concat([chunk, exception])
    for (const size of [1, 7, 13, 144, 145, 146, both.length]) {
      const reader = createFrameReader()
      const events = []
      for (let at = 0; at < both.length; at += size) events.push(...reader.push(both.subarray(at, at + size)))
      expect(events).toEqual(expected)
    }
  })

  test('with a wrong checksum or length are malformed', () => {
    for (const at of [0, 5, 9, 40, 100, 144]) {
      const broken = Buffer.from(chunk)
      broken[at] = (broken[at] ?? 0) ^ 0xff
      expect(() => createFrameReader().push(broken)).toThrow(MalformedUpstream)
    }
  })
})

test.each([
  ['claude-3-5-sonnet-20241022', 'us-east-1', 'us.anthropic.claude-3-5-sonnet-20241022-v2:0'],
  ['claude-3-5-sonnet-20241022', 'eu-west-1', 'anthropic.claude-3-5-sonnet-20241022-v2:0'],
  ['claude-3-haiku-20240307', 'ap-south-1', 'apac.anthropic.claude-3-haiku-20240307-v1:0'],
  ['claude-3-opus-20240229', 'eu-west-1', 'anthropic.claude-3-opus-20240229-v1:0'],
  ['claude-sonnet-4-5', 'eu-west-1', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['claude-sonnet-4-5', 'ca-central-1', 'global.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['claude-haiku-4-5', 'ap-northeast-1', 'global.anthropic.claude-haiku-4-5-20251001-v1:0'],
  ['claude-sonnet-4-20250514', 'ap-south-1', 'apac.anthropic.claude-sonnet-4-20250514-v1:0'],
  ['claude-opus-4-1', 'us-east-1', 'us.anthropic.claude-opus-4-1-20250805-v1:0'],
  ['claude-opus-4-1', 'eu-west-1', 'anthropic.claude-opus-4-1-20250805-v1:0'],
  ['claude-opus-4-6', 'us-west-2', 'us.anthropic.claude-opus-4-6-v1'],
  ['claude-sonnet-4-6', 'us-east-1', 'us.anthropic.claude-sonnet-4-6'],
  ['claude-opus-5', 'sa-east-1', 'global.anthropic.claude-opus-5'],
  ['claude-mythos-5', 'us-east-1', 'us.anthropic.claude-mythos-5'],
  ['claude-2.1', 'us-east-1', 'anthropic.claude-v2:1'],
  ['nova-pro-v1:0', 'us-east-1', 'amazon.nova-pro-v1:0'],
  ['us.anthropic.claude-x', 'us-east-1', 'us.anthropic.claude-x'],
])('%s in %s', (model, region, id) => {
  expect(toBedrockId(model, region)).toBe(id)
})

describe('a call', () => {
  const call = (key: string, stream = false) =>
    callWith({
      model: 'claude-sonnet-4-5-20250929-thinking',
      stream,
      callerHeaders: { 'anthropic-beta': 'context-1m-2025-08-07, compact-2026-01-12' },
      channel: { type: 33, baseUrl: '', key },
    })

  test('names the model in the path and the versions in the body', () => {
    const sent = aws.chat.request(requestWith({ stream: true }), call('AK|SK|us-east-1', true))
    expect(sent.url).toBe(
      `https://${host}/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream`,
    )
    expect(sent.body).toMatchObject({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['context-1m-2025-08-07', 'compact-2026-01-12'],
    })
    expect(sent.body).not.toHaveProperty('model')
    expect(sent.body).not.toHaveProperty('stream')
  })

  test('is signed over the body that goes out, or carries the key of the two-part form', () => {
    const request = { method: 'POST' as const, url: input.url, headers: input.headers, body: JSON.parse(body) }
    const signed = aws.sign!(request, call('AKIDEXAMPLE|wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY|us-east-1'))
    expect(signed.body).toBe(body)
    expect(signed.headers['authorization']).toContain(
      '64426a2491faf25c0491ef74fc723c1ced7cfd3896dc2b7765c16b18919f9d34',
    )
    expect(aws.sign!(request, call('token|us-east-1')).headers['authorization']).toBe('Bearer token')
  })

  test('goes natively with only what the host wants changed', () => {
    const text = '{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"\\u4f60"}]}'
    const native = { json: JSON.parse(text), bytes: Buffer.from(text) }
    const plain = callWith({
      model: 'claude-opus-4-6',
      stream: true,
      channel: { baseUrl: 'https://vpc.test', key: 'a|b|us-east-1' },
    })
    const sent = aws.native.claude!.request(native, plain)
    expect(sent.url).toBe('https://vpc.test/model/us.anthropic.claude-opus-4-6-v1/invoke-with-response-stream')
    expect(Buffer.from(sent.body as Uint8Array).toString()).toBe(
      '{"max_tokens":5,"messages":[{"role":"user","content":"\\u4f60"}],"anthropic_version":"bedrock-2023-05-31"}',
    )
  })
})

const novaCall = callWith({
  model: 'nova-2-lite-v1:0',
  channel: { baseUrl: 'https://vpc.test', key: 'a|b|us-east-1' },
})

test('cache points close the instructions of models that keep them, never tools, and are named as lost elsewhere', () => {
  const cacheControl = { type: 'ephemeral' as const }
  const tools = [{ type: 'function' as const, name: 'look', cacheControl }]
  const system = { role: 'system' as const, content: [{ type: 'text' as const, text: 'be brief', cacheControl }] }
  const user = { role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }
  const sentTo = (model: string) => {
    const channel = { baseUrl: 'https://vpc.test', key: 'a|b|us-east-1' }
    const { body, losses } = aws.chat.request(
      requestWith({ messages: [system, user], tools }),
      callWith({ model, channel }),
    )
    const points = (value: unknown) => JSON.stringify(value).split('cachePoint').length - 1
    const { system: instructions, toolConfig } = body as { system?: unknown; toolConfig?: unknown }
    return [points(instructions), points(toolConfig), losses?.includes('cache_control')]
  }
  expect(sentTo('amazon.nova-pro-v1:0')).toEqual([1, 0, true])
  expect(sentTo('openai.gpt-oss-120b-1:0')).toEqual([0, 0, true])
})

test('a cache point to a model that keeps none for an hour asks for none, which is named as lost', () => {
  const plain = { role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }
  const sentWith = (role: 'system' | 'user', ttl: '5m' | '1h') => {
    const cacheControl = { type: 'ephemeral' as const, ttl }
    const content = [{ type: 'text' as const, text: 'be brief', cacheControl }]
    return aws.chat.request(requestWith({ messages: [{ role, content }, plain] }), novaCall)
  }
  const marked = [{ text: 'be brief' }, { cachePoint: { type: 'default' } }]
  const asked = { role: 'user', content: [{ text: 'hi' }] }
  for (const [ttl, losses] of [
    ['5m', []],
    ['1h', ['cache_control']],
  ] as const) {
    expect(sentWith('system', ttl)).toMatchObject({ body: { system: marked, messages: [asked] }, losses })
    const content = [...marked, ...asked.content]
    expect(sentWith('user', ttl)).toMatchObject({ body: { messages: [{ role: 'user', content }] }, losses })
  }
})

test('the highest effort of Nova goes without what it refuses beside it, which is named as lost', () => {
  const sentWith = (effort: 'medium' | 'max') => {
    const limits = { maxTokens: 100, temperature: 0.5, topP: 0.9 }
    const asked = requestWith({ ...limits, reasoning: { effort }, extra: { dialect: 'claude', fields: {} } })
    const { body, losses } = aws.chat.request(asked, novaCall)
    return { inference: (body as { inferenceConfig?: unknown }).inferenceConfig, losses }
  }
  expect(sentWith('medium')).toEqual({ inference: { maxTokens: 100, temperature: 0.5, topP: 0.9 }, losses: [] })
  expect(sentWith('max')).toEqual({ inference: undefined, losses: ['max_tokens', 'temperature', 'top_p'] })
})

test('where nothing is set aside beyond the limit, it goes to Nova and the highest effort does not, which is named as lost', () => {
  const call = { ...novaCall, needsLimit: true }
  const own = { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } } }
  const medium = { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }
  for (const asked of [
    { reasoning: { effort: 'high' as const } },
    { extra: { dialect: 'openai-chat' as const, fields: own } },
  ]) {
    expect(aws.chat.request(requestWith({ ...asked, maxTokens: 100, topP: 0.9 }), call)).toMatchObject({
      body: { inferenceConfig: { maxTokens: 100, topP: 0.9 }, additionalModelRequestFields: medium },
      losses: ['reasoning_effort'],
    })
    const { body } = aws.chat.request(requestWith({ ...asked, topP: 0.9 }), call)
    expect(body).toMatchObject(own)
    expect(body).not.toHaveProperty('inferenceConfig')
  }
})

describe('what a model refuses is left out and named as lost', () => {
  const tools = [{ type: 'function' as const, name: 'look' }]
  const sentTo = (model: string, asked: Parameters<typeof requestWith>[0]) => {
    const channel = { baseUrl: 'https://vpc.test', key: 'a|b|us-east-1' }
    const { body, losses } = aws.chat.request(requestWith(asked), callWith({ model, channel }))
    return { body: body as { inferenceConfig?: unknown; toolConfig?: { toolChoice?: unknown } }, losses }
  }

  test.each([
    ['openai.gpt-oss-120b-1:0', undefined],
    ['qwen.qwen3-32b-v1:0', undefined],
    ['us.deepseek.v3-v1:0', undefined],
    ['zai.glm-4.7', undefined],
    ['us.deepseek.r1-v1:0', { stopSequences: ['END'] }],
    ['us.meta.llama3-3-70b-instruct-v1:0', { stopSequences: ['END'] }],
    ['amazon.nova-pro-v1:0', { stopSequences: ['END'] }],
  ])('stop sequences to %s', (model, inferenceConfig) => {
    const { body, losses } = sentTo(model, { stop: ['END'] })
    expect([body.inferenceConfig, losses]).toEqual([inferenceConfig, inferenceConfig ? [] : ['stop']])
  })

  test('a choice among so many words to models that know three settings alone', () => {
    expect(sentTo('us.meta.llama3-3-70b-instruct-v1:0', { topK: 7 })).toMatchObject({ losses: ['top_k'] })
    expect(JSON.stringify(sentTo('us.meta.llama3-3-70b-instruct-v1:0', { topK: 7 }).body)).not.toContain('"top_k"')
    expect(sentTo('us.deepseek.r1-v1:0', { topK: 7 })).toMatchObject({
      body: { additionalModelRequestFields: { top_k: 7 } },
      losses: [],
    })
  })

  test.each([
    ['us.meta.llama4-maverick-17b-instruct-v1:0', { auto: {} }, { auto: {} }],
    ['mistral.mistral-large-2407-v1:0', { any: {} }, { any: {} }],
    ['amazon.nova-pro-v1:0', { tool: { name: 'look' } }, { any: {} }],
  ])('a forced tool to %s', (model, named, required) => {
    const choiceOf = (toolChoice: NonNullable<Parameters<typeof requestWith>[0]>['toolChoice'], wanted: unknown) => {
      const { body, losses } = sentTo(model, { tools, toolChoice })
      expect(body.toolConfig?.toolChoice).toEqual(wanted)
      return losses
    }
    expect(choiceOf({ type: 'tool', name: 'look' }, named)).toEqual('tool' in named ? [] : ['tool_choice'])
    expect(choiceOf({ type: 'required' }, required)).toEqual('any' in required ? [] : ['tool_choice'])
    expect(choiceOf({ type: 'auto' }, { auto: {} })).toEqual([])
  })
})

test('documents of one conversation have names of their own, which are no longer than may be', () => {
  const file = (filename?: string) => ({
    type: 'file' as const,
    source: { kind: 'base64' as const, mediaType: 'application/pdf', data: 'AA==' },
    ...(filename === undefined ? {} : { filename }),
  })
  const long = 'x'.repeat(300)
  const content = [file(), file(), file('a_b.pdf'), file('A.b.pdf'), file('a b pdf 2'), file(long), file(long)]
  const call = callWith({ model: 'nova-pro-v1:0', channel: { baseUrl: 'https://vpc.test', key: 'a|b|us-east-1' } })
  const { body } = aws.chat.request(requestWith({ messages: [{ role: 'user', content }] }), call)
  const names = [...JSON.stringify(body).matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name)
  expect(names).toEqual([
    'document',
    'document 2',
    'a b pdf',
    'A b pdf 2',
    'a b pdf 2 2',
    'x'.repeat(200),
    `${'x'.repeat(198)} 2`,
  ])
})

test('exceptions carry the status their kind stands for', () => {
  const error = (body: object, status = 400) => aws.error(status, JSON.stringify(body))
  expect(error({ __type: 'com.amazon#ServiceQuotaExceededException', message: 'm' })).toMatchObject({ status: 429 })
  const named = (kind: string) => aws.error(400, '{"message":"m"}', { 'x-amzn-errortype': `${kind}:http://amazon` })
  expect(named('ServiceQuotaExceededException')).toMatchObject({ status: 429, code: 'ServiceQuotaExceededException' })
  expect(named('ValidationException')).toMatchObject({ status: 400, message: 'm' })
  for (const kind of ['UnrecognizedClientException', 'ExpiredTokenException'])
    expect(named(kind)).toMatchObject({ status: 403, type: 'authentication_error', code: kind })
  expect(named('AccessDeniedException').type).not.toBe('authentication_error')
  expect(error({ Message: 'no access' }, 403)).toMatchObject({ status: 403, message: 'no access' })
})
