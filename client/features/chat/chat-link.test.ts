import { expect, test } from 'vitest'
import { sandboxOf, savedLinks } from './chat-link.ts'
import { mostLookedAt, redirectMs } from './use-chat-key.ts'

test('a chat page keeps its own storage, but one of the gateway’s own origin does not act as the reader', () => {
  expect(sandboxOf('https://chat.example/#sk', 'https://gateway.example')).toContain('allow-same-origin')
  expect(sandboxOf('https://gateway.example/app/tokens', 'https://gateway.example')).not.toContain('allow-same-origin')
})

test('each record names one link', () => {
  expect(savedLinks([{ One: 'https://one.example' }, {}, { Two: 'https://two.example', Other: 'https://x' }])).toEqual([
    { name: 'One', template: 'https://one.example' },
    { name: 'Two', template: 'https://two.example' },
  ])
})

test('a key is looked for among 100 tokens, and whoever has none is led away after 1.5 seconds', () => {
  expect([mostLookedAt, redirectMs]).toEqual([100, 1500])
})
