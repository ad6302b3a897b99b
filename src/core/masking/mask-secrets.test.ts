import { describe, expect, test } from 'vitest'
import { channelTypes } from '../channel-types/index.ts'
import { maskJson, maskSecrets } from './mask-secrets.ts'
import { secretParts } from './secret-parts.ts'

const pem = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
  'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu',
  '-----END PRIVATE KEY-----',
  '',
].join('\n')

const account = JSON.stringify({
  type: 'service_account',
  project_id: 'orchid-project-381',
  private_key_id: '7f3d90ab12cd34ef56ab78cd90ef12ab34cd56ef',
  private_key: pem,
  client_email: 'caller@orchid-project-381.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
})

/** A key of each format, with the parts of it that are secret. */
const keys: Record<string, { key: string; secrets: string[] }> = {
  single: { key: 'sk-Zx81QmPv93/LrTw+60Bn==', secrets: ['sk-Zx81QmPv93/LrTw+60Bn=='] },
  none: { key: 'sk-Zx81QmPv93LrTw60Bn', secrets: ['sk-Zx81QmPv93LrTw60Bn'] },
  pipe: {
    key: 'AKfirst81QmPv93|wJalr/XUtn+FEMI7MDENG|q9Third60Bnx',
    secrets: ['AKfirst81QmPv93', 'wJalr/XUtn+FEMI7MDENG', 'q9Third60Bnx'],
  },
  dot: { key: '4f2a9c1b7d3e.Qw9rTy7uIo5p', secrets: ['4f2a9c1b7d3e', 'Qw9rTy7uIo5p'] },
  dash: { key: 'fastgpt9QmPv93LrTw-64f1c0ffee12', secrets: ['fastgpt9QmPv93LrTw', '64f1c0ffee12'] },
  'single-or-pipe': { key: 'bce81QmPv93LrTw|app60Bnx7k', secrets: ['bce81QmPv93LrTw', 'app60Bnx7k'] },
  json: {
    key: JSON.stringify({ access_token: 'eyTok81QmPv93LrTw', account_id: 'acct-60Bnx7k2' }),
    secrets: ['eyTok81QmPv93LrTw', 'acct-60Bnx7k2'],
  },
  'service-account-json': {
    key: account,
    secrets: [
      pem,
      'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu',
      '7f3d90ab12cd34ef56ab78cd90ef12ab34cd56ef',
      'caller@orchid-project-381.iam.gserviceaccount.com',
    ],
  },
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

const writings: [string, (secret: string) => string][] = [
  ['plain', (secret) => secret],
  ['for a URL', encodeURIComponent],
  [
    'for a URL in small letters',
    (secret) => encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
  ],
  ['for a form', (secret) => new URLSearchParams({ key: secret }).toString().slice('key='.length)],
  ['in JSON', (secret) => JSON.stringify(secret)],
  ['in JSON within JSON', (secret) => JSON.stringify(JSON.stringify(secret))],
  ['in JSON with escaped slashes', (secret) => JSON.stringify(secret).replaceAll('/', '\\/')],
  ['in base64', base64],
  ['in base64 for URLs', (secret) => Buffer.from(secret).toString('base64url')],
  ['as a user of Basic authentication', (secret) => base64(`${secret}:`)],
  ['as a password of Basic authentication', (secret) => base64(`user:${secret}`)],
  ['as a password of a longer user', (secret) => base64(`users:${secret}`)],
]

/** Eight characters in a row of a secret, in any of the ways it is written. */
const whatIsLeft = (text: string, secret: string): string[] =>
  writings
    .map(([, write]) => write(secret))
    .flatMap((form) => Array.from({ length: Math.max(0, form.length - 7) }, (_, at) => form.slice(at, at + 8)))
    .filter((piece) => text.includes(piece))

describe.each(channelTypes)('of a channel of type $type ($name)', ({ type, keyFormat }) => {
  const { key, secrets } = keys[keyFormat] ?? { key: '', secrets: [] }

  test.each(writings)('the key and each secret part of it is masked %s', (_name, write) => {
    for (const quoted of [key, ...secrets]) {
      const masked = maskSecrets(`refused <${write(quoted)}>, try again`, { type, key })
      expect(masked).toMatch(/^refused <.*>, try again$/s)
      for (const secret of secrets) expect(whatIsLeft(masked, secret), masked).toEqual([])
    }
  })

  test('a part that was cut, or shortened in its middle, is masked', () => {
    for (const secret of secrets) {
      const masked = maskSecrets(`key ${secret.slice(0, -1)} and ${secret.slice(0, 12)}...`, { type, key })
      expect(masked).not.toContain(secret.slice(0, 12))
    }
  })
})

describe('what is left of a text', () => {
  test('regions and other words that are no secrets stay', () => {
    const held = { type: 33, key: 'AKfirst81QmPv93|wJalrXUtnFEMI7MDENG|ap-southeast-1' }
    expect(secretParts(held.type, held.key)).toEqual(['AKfirst81QmPv93', 'wJalrXUtnFEMI7MDENG'])
    const text = 'The model is not available in ap-southeast-1. See https://example.com/ap-southeast-1'
    expect(maskSecrets(text, held)).toBe(text)
    expect(maskSecrets(`key ${held.key}`, held)).toBe('key ***')
  })

  test('a short key hides words of its own only, and a very short one none', () => {
    expect(maskSecrets('the ollama key of ollamas', { type: 4, key: 'ollama' })).toBe('the *** key of ollamas')
    expect(maskSecrets('a key', { type: 1, key: 'k' })).toBe('a key')
    expect(maskSecrets('app 12345 said', { type: 18, key: '12345|QmPv93LrTw60|60BnxQmPv93L' })).toBe('app 12345 said')
  })

  test('names neither the address, nor its host, nor passwords within addresses', () => {
    const held = {
      type: 1,
      key: 'sk-Zx81QmPv93LrTw60Bn',
      baseUrl: 'https://me:pass%20word9@inner.example:8443/openai',
      proxy: 'socks5://user:proxyP4ss@10.0.0.9:1080',
    }
    const text =
      'POST https://me:pass%20word9@inner.example:8443/openai: inner.example:8443, inner.example, pass word9, proxyP4ss'
    expect(maskSecrets(text, held)).toBe('POST ***: ***, ***, ***, ***')
    const proxy = 'http://pr0xyT0ken@10.0.0.9:1080'
    expect(maskSecrets('refused pr0xyT0ken', { ...held, proxy })).toBe('refused ***')
  })

  test('names no token that stands for the key, and none that was signed with it', () => {
    const packed = (text: string) => Buffer.from(text).toString('base64url')
    const signed = `${packed('{"alg":"HS256"}')}.${packed('{"api_key":"4f2a9c1b7d3e"}')}.c2lnbmF0dXJl`
    const held = { type: 15, key: 'AKfirst81QmPv93|wJalrXUtnFEMI7MDENG', token: '24.f9b1c0ffee.2592000.1700' }
    expect(maskSecrets(`token ${held.token}; ${signed}!`, held)).toBe('token ***; ***!')
  })

  test('of JSON is JSON, whatever was masked in it', () => {
    const key = 'a\\b"c\\\\d\\"e81QmPv93LrTw'
    const text = JSON.stringify({ [key]: [`${key.slice(0, 13)}"`, { message: key, code: 7 }] })
    expect(JSON.parse(maskJson(text, { type: 1, key }))).toEqual({ '***': ['***"', { message: '***', code: 7 }] })
    expect(maskJson('{"n": 1.0}', { type: 1, key })).toBe('{"n": 1.0}')
  })

  test.each([
    ['repeats the key without end', (key: string) => key.repeat(100_000)],
    ['repeats its beginning', (key: string) => key.slice(0, 11).repeat(200_000)],
    ['looks like a signed token', () => 'eyJ.'.repeat(500_000)],
    ['looks like base64', () => 'QmPv'.repeat(500_000)],
  ])('comes in time where a text of two megabytes %s', (_name, textOf) => {
    const key = 'sk-Zx81QmPv93LrTw60Bn'
    expect(maskSecrets(textOf(key), { type: 1, key, baseUrl: 'https://inner.example' })).not.toContain(key)
  })
})
