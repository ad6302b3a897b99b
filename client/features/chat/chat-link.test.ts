import { expect, test } from 'vitest'
import { chatLinkOf, sandboxOf, savedLinks } from './chat-link.ts'
import { mostLookedAt, redirectMs } from './use-chat-key.ts'

const values = { address: 'https://gateway.example/', key: 'sk-abc' }

test('address and key are put in wherever the link names them, escaped', () => {
  expect(chatLinkOf('https://chat.example/#/?settings={"key":"{key}","url":"{address}"}', values)).toEqual({
    kind: 'frame',
    url: 'https://chat.example/#/?settings={"key":"sk-abc","url":"https%3A%2F%2Fgateway.example%2F"}',
    host: 'chat.example',
  })
  expect(chatLinkOf('opencat://team/join?domain={address}&token={key}', values)).toEqual({
    kind: 'program',
    url: 'opencat://team/join?domain=https%3A%2F%2Fgateway.example%2F&token=sk-abc',
    host: 'opencat',
  })
})

test('a key that would be sent to the server of the page is not put in', () => {
  expect(chatLinkOf('https://chat.example/?key={key}', values)).toEqual({ kind: 'invalid' })
  expect(chatLinkOf('https://chat.example/{key}#/', values)).toEqual({ kind: 'invalid' })
  expect(chatLinkOf('https://{key}.example/#', values)).toEqual({ kind: 'invalid' })
  // Written so that it does not look like a web page, which it is to a browser.
  for (const template of [
    ' https://chat.example/?key={key}',
    'ht\ntps://chat.example/?key={key}',
    'https:chat.example/{key}',
  ])
    expect(chatLinkOf(template, values)).toEqual({ kind: 'invalid' })
})

test('what is no link, or runs as code, is none', () => {
  for (const template of [
    '',
    'chat.example',
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'https://',
  ]) {
    expect(chatLinkOf(template, values)).toEqual({ kind: 'invalid' })
  }
})

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
