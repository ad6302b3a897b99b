import { expect, test } from 'vitest'
import { callWith } from '#relay/providers/conformance/fixtures.ts'
import { requestWith } from '#relay/providers/conformance/requests.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { channelTypeOf } from './index.ts'
import { channelPresets } from './presets.ts'

test('every preset has a name of its own, a living type and an address that can be saved', () => {
  expect(new Set(channelPresets.map(({ id }) => id)).size).toBe(channelPresets.length)
  for (const { id, type, baseUrl } of channelPresets) {
    expect(channelTypeOf(type)?.hiddenInUi, id).toBe(false)
    expect(baseUrl, id).toMatch(/^https:\/\/[^?#]+[^/]$/)
  }
})

test.each([
  ['groq', 'https://api.groq.com/openai/v1/chat/completions'],
  ['deepinfra', 'https://api.deepinfra.com/v1/openai/chat/completions'],
  ['nebius', 'https://api.tokenfactory.nebius.com/v1/chat/completions'],
  ['novita', 'https://api.novita.ai/openai/v1/chat/completions'],
  ['upstage', 'https://api.upstage.ai/v1/chat/completions'],
  ['zai-coding', 'https://api.z.ai/api/coding/paas/v4/chat/completions'],
  ['kimi-coding', 'https://api.kimi.com/coding/v1/chat/completions'],
  ['ark-coding', 'https://ark.cn-beijing.volces.com/api/coding/v3/chat/completions'],
  ['tokenhub-intl', 'https://tokenhub-intl.tencentcloudmaas.com/v1/chat/completions'],
  ['glm-coding-messages', 'https://open.bigmodel.cn/api/anthropic/v1/messages'],
])('chats of %s go to %s', (id, url) => {
  const preset = channelPresets.find((each) => each.id === id)
  const { type = 1, baseUrl = '' } = preset ?? {}
  const call = callWith({ channel: { type, baseUrl, key: 'k' } })
  expect(providerFor(type).chat.request(requestWith(), call).url).toBe(url)
})

test('streams of every preset without a provider of its own are asked for their usage, by which they are charged', () => {
  for (const { id, type, baseUrl } of channelPresets.filter(({ type }) => [1, 8].includes(type))) {
    const call = callWith({ stream: true, channel: { type, baseUrl, key: 'k' } })
    const { body } = providerFor(type).chat.request(requestWith({ stream: true }), call)
    expect(body, id).toMatchObject({ stream_options: { include_usage: true } })
  }
})
