import { expect, test } from 'vitest'
import { chatLinkOf } from './chat-link.ts'

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
