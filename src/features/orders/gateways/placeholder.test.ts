import { expect, it } from 'vitest'
import { isRealSecret } from './placeholder.ts'

it.each([
  '',
  '   ',
  'changeme',
  'Change-Me',
  'secret',
  '123456',
  'sk_test_...',
  'sk_live_',
  'whsec_xxxx',
  '*****',
  'xxx',
  'your_secret_key',
  'YOUR-API-KEY',
  '<secret>',
])('takes %j for no secret', (text) => {
  expect(isRealSecret(text)).toBe(false)
})

it.each(['KEY', 'sk_test_51Habc', 'whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH', 'rk_live_9', 'a7f3b2c1', 'yourself42'])(
  'takes %j for a secret',
  (text) => {
    expect(isRealSecret(text)).toBe(true)
  },
)
