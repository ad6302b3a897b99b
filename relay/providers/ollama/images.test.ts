import { expect, test } from 'vitest'
import { callWith } from '../conformance/fixtures.ts'
import { providerFor } from '../registry.ts'

test('Ollama gets images as bytes', () => {
  const image = { type: 'image' as const, source: { kind: 'url' as const, url: 'https://e.test/a.png' } }
  expect(providerFor(4).chat.keepsAddress?.(image)).toBe(false)
  expect(providerFor(1).chat.keepsAddress?.(image)).toBe(true)
})

test.each([
  ['https://e.test/a.png', false],
  ['data:image/png;base64,AAAA', true],
])('a chat with the image %s goes to Ollama as it came: %s', (url, isTaken) => {
  for (const image_url of [url, { url }]) {
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url }] }]
    expect(providerFor(4).native['openai-chat']?.accepts?.({ messages }, callWith({ channel: { type: 4 } }))).toBe(
      isTaken,
    )
  }
})
