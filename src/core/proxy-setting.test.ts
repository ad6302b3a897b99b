import { expect, test } from 'vitest'
import { hideProxyPassword, proxyOf, withProxy } from './proxy-setting.ts'

const hidden = (proxy: string) => proxyOf(hideProxyPassword(JSON.stringify({ proxy })))

test('the password of a proxy, or a token in its place, is hidden, whatever it contains', () => {
  expect(hidden('socks5://user:secret@10.0.0.1:1080')).toBe('socks5://user:***@10.0.0.1:1080')
  expect(hidden('http://user:a@b/c:d"e@host')).toBe('http://user:***@host')
  expect(hidden('http://:secret@host')).toBe('http://:***@host')
  expect(hidden('http://host:8080')).toBe('http://host:8080')
  expect(hidden('http://token@host:8080')).toBe('http://***@host:8080')
})

test('it is hidden however the settings write it, and the rest stays as it was', () => {
  const twice = '{"proxy":"http://host","x":1,"pro\\u0078y":"http:\\/\\/user:secret@host"}'
  expect(hideProxyPassword(twice)).toBe('{"proxy":"http://user:***@host","x":1}')
  const laidOut = '{\n  "proxy": "http://user:secret@host"\n}'
  expect(hideProxyPassword(laidOut)).toBe(laidOut.replace('secret', '***'))
  expect(hideProxyPassword('{ "x" : 1 }')).toBe('{ "x" : 1 }')
  expect(hideProxyPassword('')).toBe('')
  expect(proxyOf(withProxy('{"x":1}', 'http://a:"$&@b'))).toBe('http://a:"$&@b')
})

test('settings full of at signs are read in time', () => {
  const proxy = `http://user:${'@'.repeat(1_000_000)}`
  expect(hidden(proxy)).toBe('http://user:***@')
})
