import { describe, expect, it } from 'vitest'
import { checkKeys } from './check-keys.ts'
import { splitKeys } from './split-keys.ts'

const account = JSON.stringify({ client_email: 'a@b', private_key: 'k,1\nk', project_id: 'p' })

describe('the key field of a channel', () => {
  it('holds several credentials between commas and line breaks', () => {
    expect(splitKeys(1, ' sk-a, sk-b\n\n,sk-c \r\n')).toEqual(['sk-a', 'sk-b', 'sk-c'])
    expect(splitKeys(1, ' \n,')).toEqual([])
  })

  it('is one credential for service accounts, sign-ins and whatever begins with a brace', () => {
    expect(splitKeys(41, `${account}\n`)).toEqual([account])
    expect(splitKeys(41, 'a,b')).toEqual(['a,b'])
    expect(splitKeys(57, 'a,b')).toEqual(['a,b'])
    expect(splitKeys(1, '{"a":1,"b":2}')).toEqual(['{"a":1,"b":2}'])
  })
})

describe('a credential', () => {
  const formatOf = (type: number, text: string) => checkKeys(type, splitKeys(type, text))?.params?.['format']

  it('has the parts its type wants', () => {
    expect(formatOf(15, 'a|b')).toBeUndefined()
    expect(formatOf(15, 'a')).toBe('APIKey|SecretKey')
    expect(formatOf(15, 'a|b,c')).toBe('APIKey|SecretKey')
    expect(formatOf(18, 'a|b|c')).toBeUndefined()
    expect(formatOf(18, 'password')).toBeUndefined()
    expect(formatOf(18, 'a|b')).toBeDefined()
    expect(formatOf(23, 'a||c')).toBeDefined()
    expect(formatOf(33, 'a|b')).toBeUndefined()
    expect(formatOf(33, 'a')).toBeDefined()
    expect(formatOf(33, 'a|b|us-east-1.evil.test/')).toBeDefined()
    expect(formatOf(16, 'id.secret')).toBeUndefined()
    expect(formatOf(16, 'no-secret')).toBe('id.secret')
    expect(formatOf(39, 'account|token')).toBeUndefined()
    expect(formatOf(39, 'a|b|c')).toBe('AccountId|ApiToken')
    expect(formatOf(46, 'key')).toBeUndefined()
    expect(formatOf(1, 'a|b|c|d')).toBeUndefined()
  })

  it('of a service account is complete, or a plain key', () => {
    expect(formatOf(41, account)).toBeUndefined()
    expect(formatOf(41, '{"client_email":"a"}')).toMatch(/private_key/)
    expect(formatOf(41, '{')).toMatch(/private_key/)
    expect(formatOf(41, 'AIza-plain')).toBeUndefined()
  })

  it('can be sent in a header', () => {
    expect(formatOf(1, 'sk-密钥')).toBe('ASCII')
    expect(formatOf(1, 'sk-a\rX-Evil: 1')).toBe('ASCII')
    expect(checkKeys(1, [])).toEqual({ code: 'channel.key_required' })
  })
})
