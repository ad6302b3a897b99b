import { expect, test } from 'vitest'
import { createSecrets } from './service.ts'

const secrets = createSecrets('a key of the operator')

test('reads back what it wrote and never writes the same text twice', () => {
  const one = secrets.encrypt('sk-密钥')
  expect(secrets.decrypt(one)).toBe('sk-密钥')
  expect(secrets.encrypt('sk-密钥')).not.toBe(one)
})

test('refuses a text written under another key or changed on the way', () => {
  const text = createSecrets('another key altogether').encrypt('x')
  expect(() => secrets.decrypt(text)).toThrow()
  const mine = secrets.encrypt('hello')
  const changed = mine.replace(/^v1\../, (start) => (start === 'v1.A' ? 'v1.B' : 'v1.A'))
  expect(() => secrets.decrypt(changed)).toThrow()
  expect(() => secrets.decrypt('plain')).toThrow()
})

test('fingerprints depend on the key', () => {
  expect(secrets.hmac('x')).toBe(secrets.hmac('x'))
  expect(secrets.hmac('x')).not.toBe(createSecrets('another key altogether').hmac('x'))
})
