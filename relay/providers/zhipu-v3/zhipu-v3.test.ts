import { expect, test } from 'vitest'
import { callWith } from '../conformance/fixtures.ts'
import { requestWith } from '../conformance/requests.ts'
import { zhipuV3 } from './index.ts'
import { createMetaReader } from './lines.ts'
import { zhipuToken } from './sign.ts'

test('the token agrees with the vendor’s', () => {
  expect(zhipuToken('idexample.secretexample', { issuedAt: 1_767_323_045_000, lifetimeMs: 3_600_000 })).toBe(
    'eyJhbGciOiJIUzI1NiIsInNpZ25fdHlwZSI6IlNJR04ifQ.eyJhcGlfa2V5IjoiaWRleGFtcGxlIiwiZXhwIjoxNzY3MzI2NjQ1MDAwLCJ0aW1lc3RhbXAiOjE3NjczMjMwNDUwMDB9.S_g_TqxnfuWhwatauCQQW1MkhG9ks2GC70ThKRDVv6k',
  )
})

test('instructions are said by the user and agreed to, and a token stands in the place of the key', () => {
  const call = callWith({
    model: 'chatglm_turbo',
    channel: { type: 16, baseUrl: 'https://open.bigmodel.cn', key: 'id.secret' },
  })
  const system = { role: 'system' as const, content: [{ type: 'text' as const, text: 'Be brief.' }] }
  const messages = [system, ...requestWith().messages]
  const sent = zhipuV3.chat.request(requestWith({ messages, topP: 1 }), call)
  expect(sent).toMatchObject({
    url: 'https://open.bigmodel.cn/api/paas/v3/model-api/chatglm_turbo/invoke',
    body: {
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Okay' },
        { role: 'user', content: 'Hi' },
      ],
      top_p: 0.99,
      incremental: false,
    },
  })
  expect(sent.headers['authorization']).toMatch(/^eyJ[^ ]+$/)
})

test('the last event is its figures, wherever the bytes are cut', () => {
  const bytes = Buffer.from(
    'event:add\nid:1\ndata: Hé\n\nevent:finish\nid:1\ndata:\nmeta:{"usage":{"prompt_tokens":1}}\n\n',
  )
  for (const size of [1, 3, bytes.length]) {
    const reader = createMetaReader()
    const events = []
    for (let at = 0; at < bytes.length; at += size) events.push(...reader.push(bytes.subarray(at, at + size)))
    expect([...events, ...reader.end()]).toEqual([
      { event: 'add', data: ' Hé' },
      { event: 'finish', data: '{"usage":{"prompt_tokens":1}}' },
    ])
  }
})
