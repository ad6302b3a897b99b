import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { channelTypeOf, defaultBaseUrlOf } from '#core/channel-types/index.ts'
import { callWith } from '../conformance/fixtures.ts'
import { requestWith, toolConversation, weatherTool } from '../conformance/requests.ts'
import { tencent } from './index.ts'
import { canonicalRequest, signTc3 } from './sign-tc3.ts'

const body = '{"Model":"hunyuan-lite","Messages":[{"Role":"user","Content":"hi"}],"Stream":false}'
const host = 'hunyuan.tencentcloudapi.com'
const now = new Date(1767322445_000)
const signature = '534b15126452763ee8c9d8ba13afd4761f79931fc6eae2375a49bbfb60b1d450'

test('the signature agrees with the documented vector', () => {
  const input = { host, action: 'ChatCompletions', body, now }
  expect(createHash('sha256').update(canonicalRequest(input)).digest('hex')).toBe(
    '9942add5d3d2484393f8cf16a110b9b1890ac9fd3dc42f9ee1ef7bbe941182a3',
  )
  expect(signTc3(input, { secretId: 'id', secretKey: 'SECRETKEYEXAMPLE' })).toEqual({
    'x-tc-timestamp': '1767322445',
    authorization: `TC3-HMAC-SHA256 Credential=id/2026-01-02/hunyuan/tc3_request, SignedHeaders=content-type;host;x-tc-action, Signature=${signature}`,
  })
})

const call = (key: string, { baseUrl = `https://${host}` }: { baseUrl?: string } = {}) =>
  callWith({
    model: 'hunyuan-lite',
    ambient: { now: () => now, newId: () => 'id', random: () => 0 },
    channel: { type: 23, baseUrl, key },
  })

const embed = (there: ReturnType<typeof call>) => {
  const asked = { json: { model: 'm', input: 'a' }, form: null }
  return tencent.plain!.embeddings!.request(asked, there)
}

test('a call is signed over the body that goes out', () => {
  const written = tencent.chat.request(requestWith(), call('app|id|SECRETKEYEXAMPLE'))
  expect(written.url).toBe(`https://${host}/`)
  const sent = tencent.sign!({ ...written, body: JSON.parse(body) }, call('app|id|SECRETKEYEXAMPLE'))
  expect(sent.body).toBe(body)
  expect(sent.headers).toMatchObject({ 'x-tc-action': 'ChatCompletions', 'x-tc-version': '2023-09-01' })
  expect(sent.headers['authorization']).toContain(signature)
})

const tokenHub = 'https://tokenhub.tencentmaas.com'

test('a single key goes to TokenHub, and is sent as it is', () => {
  const written = tencent.chat.request(requestWith(), call('sk-1'))
  expect(written).toMatchObject({
    url: `${tokenHub}/v1/chat/completions`,
    headers: { authorization: 'Bearer sk-1' },
    body: { model: 'hunyuan-lite' },
  })
  expect(tencent.sign!(written, call('sk-1'))).toBe(written)
})

test.each([
  [defaultBaseUrlOf(23), `${tokenHub}/v1`],
  [`https://${host}`, `${tokenHub}/v1`],
  ['https://tokenhub-intl.tencentcloudmaas.com', 'https://tokenhub-intl.tencentcloudmaas.com/v1'],
  [`${tokenHub}/plan/v3`, `${tokenHub}/plan/v3`],
  ['https://api.hunyuan.cloud.tencent.com/v1', 'https://api.hunyuan.cloud.tencent.com/v1'],
  ['https://u.test/hunyuan', 'https://u.test/hunyuan'],
])('a single key of a channel at %s goes to %s', (baseUrl, base) => {
  const there = call('sk-1', { baseUrl })
  expect(tencent.chat.request(requestWith(), there).url).toBe(`${base}/chat/completions`)
  expect(tencent.models.request(there.channel).url).toBe(`${base}/models`)
  expect(embed(there).url).toBe(`${base}/embeddings`)
})

test.each([
  [defaultBaseUrlOf(23), `https://${host}/`],
  [`https://${host}`, `https://${host}/`],
  ['https://u.test', 'https://u.test/'],
])('a key of three parts of a channel at %s is signed for the older API at %s', (baseUrl, url) => {
  const there = call('a|b|c', { baseUrl })
  expect(tencent.chat.request(requestWith(), there).url).toBe(url)
  expect(embed(there).url).toBe(url)
})

test('TokenHub is asked for usage in streams, other servers are not', () => {
  const asked = (baseUrl: string) =>
    tencent.chat.request(requestWith({ stream: true }), { ...call('sk-1', { baseUrl }), stream: true }).body
  expect(asked(tokenHub)).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  expect(asked('https://u.test/v1')).not.toHaveProperty('stream_options')
  expect(tencent.chat.request(requestWith(), call('sk-1')).body).not.toHaveProperty('stream_options')
})

test('thinking is switched in the words of TokenHub for its models, in the older ones for theirs', () => {
  const write = (model: string, on: boolean) =>
    tencent.chat.request(requestWith({ reasoning: { mode: on ? 'enabled' : 'disabled' } }), { ...call('sk-1'), model })
      .body
  const others = ['deepseek-v4-flash-202605', 'deepseek-v3.2', 'glm-5', 'glm-5.1', 'kimi-k2.6']
  for (const model of [...(channelTypeOf(23)?.currentModels ?? []), ...others]) {
    expect(write(model, true)).toMatchObject({ thinking: { type: 'enabled' } })
    expect(write(model, false)).toMatchObject({ thinking: { type: 'disabled' } })
  }
  expect(write('hunyuan-a13b', true)).toMatchObject({ enable_thinking: true })
  // These think in any case.
  expect(write('minimax-m2.7', false)).not.toHaveProperty('thinking')
})

test('names begin with capitals, results name their call', () => {
  const written = tencent.chat.request({ ...toolConversation(), seed: 1, topK: 4 }, call('a|b|c'))
  expect(written.body).toMatchObject({
    Seed: 1,
    Messages: [
      { Role: 'system', Content: 'Be brief.' },
      { Role: 'user' },
      {
        Role: 'assistant',
        Content: 'I will look.',
        ToolCalls: [
          {
            Id: 'call_1',
            Type: 'function',
            Index: 0,
            Function: { Name: 'get_weather', Arguments: '{"city":"Paris"}' },
          },
          { Id: 'call_2', Index: 1 },
        ],
      },
      { Role: 'tool', ToolCallId: 'call_1', Content: 'sunny-18' },
      { Role: 'tool', ToolCallId: 'call_2' },
      { Role: 'user', Content: 'And tomorrow?' },
    ],
  })
  expect(written.losses).toEqual(['top_k'])
})

test.each([
  [4000, 500],
  [4001, 504],
])('the code %i of an error inside a stream, a number there, has status %i', (Code, status) => {
  const decoder = tencent.chat.stream(call('a|b|c'))
  const data = JSON.stringify({ ErrorMsg: { Code, Msg: 'm' } })
  expect(decoder.push({ data })).toEqual([
    { type: 'error', error: expect.objectContaining({ status, code: String(Code), message: 'm' }) },
  ])
})

test.each([
  ['AuthFailure.SignatureFailure', 401],
  ['RequestLimitExceeded', 429],
  ['ResourceUnavailable.LowBalance', 402],
  ['InvalidParameterValue.Model', 400],
  ['FailedOperation.EngineRequestTimeout', 504],
  ['FailedOperation.EngineServerLimitExceeded', 429],
  ['FailedOperation.ServiceStopArrears', 402],
  ['ResourceUnavailable.InArrears', 402],
  ['ResourceInsufficient.ChargeResourceExhaust', 402],
  ['UnauthorizedOperation', 403],
  ['MissingParameter', 400],
  ['UnknownParameter', 400],
  ['UnsupportedOperation', 400],
  ['OperationDenied.TextIllegalDetected', 400],
  ['OperationDenied.ImageIllegalDetected', 400],
  ['InternalError', 500],
])('%s has status %i, in a reply and inside a 2xx answer', (code, status) => {
  const answer = { Response: { Error: { Code: code, Message: 'm' } } }
  expect(tencent.error(500, JSON.stringify(answer))).toMatchObject({ status, code, message: 'm' })
  expect(() => tencent.chat.response(answer, call('a|b|c'))).toThrow('m')
})

test('one tool can be demanded, any of several cannot', () => {
  const ask = (names: string[], toolChoice: Parameters<typeof requestWith>[0] & object) =>
    tencent.chat.request(
      requestWith({ tools: names.map((name) => ({ ...weatherTool, name })), ...toolChoice }),
      call('a|b|c'),
    )
  const custom = { ToolChoice: 'custom', CustomTool: { Type: 'function', Function: { Name: 'f' } } }
  expect(ask(['f'], { toolChoice: { type: 'required' } }).body).toMatchObject(custom)
  expect(ask(['g', 'f'], { toolChoice: { type: 'tool', name: 'f' } }).body).toMatchObject(custom)
  const several = ask(['g', 'f'], { toolChoice: { type: 'required' } })
  expect(several.body).not.toHaveProperty('ToolChoice')
  expect(several.losses).toContain('tool_choice')
})

test('a schema is described, as it cannot be enforced', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const { body, losses } = tencent.chat.request(
    requestWith({ responseFormat: { type: 'json-schema', name: 'x', schema } }),
    call('a|b|c'),
  )
  expect(body).toMatchObject({ Messages: [{ Role: 'system', Content: expect.stringContaining('"city"') }, {}] })
  expect(losses).toEqual([])
})

test('turns alternate, from the user to the user, with one message of instructions before them', () => {
  const say = (role: 'system' | 'user' | 'assistant', text: string) => ({
    role,
    content: [{ type: 'text' as const, text }],
  })
  const sent = (...messages: ReturnType<typeof say>[]) => {
    const request = requestWith({ messages, extra: { dialect: 'openai-chat', fields: {} } })
    const { body } = tencent.chat.request(request, call('a|b|c'))
    return (body as { Messages: { Role: string; Content: string }[] }).Messages.map(({ Role, Content }) => [
      Role,
      Content,
    ])
  }
  expect(
    sent(say('user', 'a'), say('user', 'b'), say('system', 's'), say('assistant', 'c'), say('system', 't')),
  ).toEqual([
    ['system', 's\n\nt'],
    ['user', 'a\n\nb'],
    ['assistant', 'c'],
    ['user', 'Continue.'],
  ])
  expect(sent(say('assistant', 'a'), say('user', 'b'))).toEqual([
    ['user', '...'],
    ['assistant', 'a'],
    ['user', 'b'],
  ])
})
