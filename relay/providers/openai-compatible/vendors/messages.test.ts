import { describe, expect, test } from 'vitest'
import { callWith } from '../../conformance/fixtures.ts'
import { providerFor } from '../../registry.ts'

const sent = (type: number, baseUrl: string, changes: { model?: string; stream?: boolean } = {}) => {
  const text = '{"model":"m","messages":[{"role":"user","content":"\\u4f60"}],"temperature":0.3,"x":1}'
  const call = callWith({ model: 'some-model', ...changes, channel: { type, baseUrl, key: 'k' } })
  const native = providerFor(type).native.claude
  if (!native) throw new Error('no messages call')
  return {
    ...native.request({ json: JSON.parse(text), bytes: Buffer.from(text) }, call),
    accepts: native.accepts?.({}, call),
  }
}

describe('a vendor that speaks the messages dialect too', () => {
  test.each([
    [17, 'https://dashscope.aliyuncs.com', 'https://dashscope.aliyuncs.com/apps/anthropic/v1/messages'],
    [
      17,
      'https://dashscope.aliyuncs.com/compatible-mode/v1',
      'https://dashscope.aliyuncs.com/apps/anthropic/v1/messages',
    ],
    [20, 'https://openrouter.ai/api', 'https://openrouter.ai/api/v1/messages'],
    [25, 'https://api.moonshot.cn', 'https://api.moonshot.cn/anthropic/v1/messages'],
    [25, 'https://api.kimi.com/coding/v1', 'https://api.kimi.com/coding/v1/messages'],
    [25, 'https://api.kimi.com/coding', 'https://api.kimi.com/coding/v1/messages'],
    [26, 'https://open.bigmodel.cn', 'https://open.bigmodel.cn/api/anthropic/v1/messages'],
    [26, 'https://api.z.ai/api/coding/paas/v4', 'https://api.z.ai/api/anthropic/v1/messages'],
    [35, 'https://api.minimaxi.com', 'https://api.minimaxi.com/anthropic/v1/messages'],
    [40, 'https://api.siliconflow.cn', 'https://api.siliconflow.cn/v1/messages'],
    [43, 'https://api.deepseek.com/v1', 'https://api.deepseek.com/anthropic/v1/messages'],
    [43, 'https://api.deepseek.com', 'https://api.deepseek.com/anthropic/v1/messages'],
  ])('type %i at %s is asked at %s', (type, baseUrl, url) => {
    expect(sent(type, baseUrl).url).toBe(url)
  })

  test('is sent the caller’s own body, with its own model and a limit, which the dialect demands', () => {
    const { headers, body } = sent(43, 'https://api.deepseek.com', { stream: true })
    expect(headers).toMatchObject({ authorization: 'Bearer k', 'anthropic-version': '2023-06-01' })
    expect(Buffer.from(body as Uint8Array).toString()).toBe(
      '{"model":"some-model","messages":[{"role":"user","content":"\\u4f60"}],"temperature":0.3,"x":1,"max_tokens":8192,"stream":true}',
    )
  })

  test('is asked in its other dialect for settings that a name’s ending stands for', () => {
    const accepts = (type: number, model: string) => sent(type, 'https://host.test', { model }).accepts
    expect([accepts(20, 'anthropic/model'), accepts(20, 'moonshotai/kimi-k2-thinking')]).toEqual([true, true])
    expect([accepts(20, 'anthropic/model-thinking'), accepts(17, 'qwen3-max-internet')]).toEqual([false, false])
  })
})

test('what MiniMax refuses with HTTP 200 is refused in each of its forms', () => {
  const { native } = providerFor(35)
  const refused = { base_resp: { status_code: 1004, status_msg: 'login fail' } }
  const answer = { content: [{ type: 'text', text: 'yes' }], usage: { input_tokens: 1, output_tokens: 1 } }
  for (const form of ['claude', 'openai-responses', 'openai-chat'] as const)
    expect(native[form]?.inspect(refused).failure).toMatchObject({ status: 401, message: 'login fail' })
  expect(
    native.claude?.inspect({ type: 'message', role: 'assistant', ...answer, base_resp: { status_code: 0 } }),
  ).toMatchObject({ usage: { completionTokens: 1 }, empty: false })
})

test('Vertex is spoken to in the dialect of the model it serves', () => {
  const key = JSON.stringify({ client_email: 'a@b', private_key: 'k', project_id: 'p' })
  const channel = { type: 41, baseUrl: '', key, other: 'us-east5' }
  const { native } = providerFor(41)
  const claude = callWith({ model: 'claude-sonnet-4-5-20250929', stream: true, token: 't', channel })
  const google = callWith({ model: 'gemini-2.5-flash', token: 't', channel })
  expect([native.claude?.accepts?.({}, claude), native.claude?.accepts?.({}, google)]).toEqual([true, false])
  expect([native.gemini?.accepts?.({}, claude), native.gemini?.accepts?.({}, google)]).toEqual([false, true])
  const text = '{"model":"m","max_tokens":5,"stream":true,"messages":[]}'
  const asked = native.claude?.request({ json: JSON.parse(text), bytes: Buffer.from(text) }, claude)
  expect(asked?.url).toBe(
    'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
  )
  expect(asked?.headers['authorization']).toBe('Bearer t')
  expect(Buffer.from(asked?.body as Uint8Array).toString()).toBe(
    '{"max_tokens":5,"stream":true,"messages":[],"anthropic_version":"vertex-2023-10-16"}',
  )
})
