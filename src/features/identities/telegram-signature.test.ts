import { createHmac, hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { isSignedByTelegram } from './telegram-signature.ts'

const token = '123456:TEST'
const fields = {
  id: '42',
  auth_date: '1700000000',
  username: 'alice',
  hash: '82735ad8f8afeadf5d931b07ab03121945bff7c806a5aaa0c17bdc9decefce7c',
}

test('what Telegram signed for the bot is known by its signature', () => {
  expect(isSignedByTelegram(token, fields)).toBe(true)
})

test.each([
  ['another person', { ...fields, id: '43' }],
  ['a later time', { ...fields, auth_date: '1700000001' }],
  ['a field more', { ...fields, first_name: 'Alice' }],
  ['a field less', { id: fields.id, auth_date: fields.auth_date, hash: fields.hash }],
  ['no signature', { id: fields.id, auth_date: fields.auth_date, username: fields.username }],
  ['half a signature', { ...fields, hash: fields.hash.slice(0, 32) }],
  ['a signature that is no number', { ...fields, hash: 'z'.repeat(64) }],
])('%s is not what was signed', (_what, changed) => {
  expect(isSignedByTelegram(token, changed)).toBe(false)
})

test('a signature for another bot counts for nothing', () => {
  expect(isSignedByTelegram('654321:TEST', fields)).toBe(false)
})

test('what one signature is of cannot be read as the fields of somebody else', () => {
  // A first name of two lines, the second of which looks like a number.
  const text = ['auth_date=1700000000', 'first_name=Mallory\nid=42', 'id=99', 'username=mallory'].join('\n')
  const signature = createHmac('sha256', hash('sha256', token, 'buffer'))
    .update(text)
    .digest('hex')
  const signed = { auth_date: '1700000000', hash: signature }
  const split = { ...signed, first_name: 'Mallory', id: '42', 'id=99\nusername': 'mallory' }
  expect(isSignedByTelegram(token, split)).toBe(false)
})
