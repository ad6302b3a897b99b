import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { isAllowedAddress, networkOf } from './addresses.ts'
import { clientAddress, clientOf } from './service.ts'

type Given = Parameters<typeof clientOf>[0]
type Trust = { trust?: number | string[]; behind?: 'nginx' | 'cloudflare' }

const trusting = ({ trust, behind }: Trust): Given =>
  ({
    environment: { TRUST_PROXY: trust },
    options: {
      get: (key: string) => (key === 'ReverseProxyEnabled' ? behind !== undefined : behind),
    },
  }) as unknown as Given

type Asking = {
  peer?: string
  headers?: Record<string, string | undefined>
  hosts?: string[]
  /** The host in its address, where one stands there. */
  address?: string
  version?: [number, number]
}

/** As Node hands a request on: of several hosts the first counts. */
const request = ({ peer = '127.0.0.1', headers = {}, hosts = ['localhost:3000'], address, version = [1, 1] }: Asking) =>
  ({
    socket: { remoteAddress: peer },
    headers: { host: address ?? hosts[0], ...headers },
    rawHeaders: [...hosts.flatMap((host) => ['Host', host]), ...Object.entries(headers).flat()],
    httpVersionMajor: version[0],
    httpVersionMinor: version[1],
  }) as unknown as IncomingMessage

describe('who is at this machine, and may set it up without the printed token', () => {
  const isHere = (asking: Asking) => clientOf(trusting({}), request(asking)).loopback

  it.each(['localhost', 'localhost:3000', 'LOCALHOST', '127.0.0.1:3000', '127.8.9.10', '[::1]:3000', '[::1]'])(
    'is who opens %s',
    (host) => expect(isHere({ hosts: [host] })).toBe(true),
  )

  it.each([
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    'localhost.',
    'console.localhost',
    'user@localhost',
    'localhost@evil.example',
    'localhost/evil',
    'localhost#evil.example',
    'localhost, evil.example',
    'localhost:3000:1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '127.0.0.1.nip.io',
    '0.0.0.0',
    '[::]',
    '[::ffff:127.0.0.1].evil.example',
    '192.0.2.7:3000',
    ' ',
    '',
  ])('is nobody who opens %j, whatever the peer', (host) => expect(isHere({ hosts: [host] })).toBe(false))

  it('is nobody who names no host, or several', () => {
    expect(isHere({ hosts: [] })).toBe(false)
    expect(isHere({ hosts: ['localhost', 'evil.example'] })).toBe(false)
    expect(isHere({ hosts: ['localhost', 'localhost'] })).toBe(false)
  })

  it('is nobody of whose two hosts, in the address and in the header, one is another', () => {
    expect(isHere({ hosts: ['localhost'], address: 'evil.example' })).toBe(false)
    expect(isHere({ hosts: ['evil.example'], address: 'localhost' })).toBe(false)
    expect(isHere({ hosts: ['127.0.0.1'], address: 'localhost' })).toBe(true)
  })

  it('is nobody by the name alone', () => {
    expect(isHere({ peer: '192.0.2.7' })).toBe(false)
    expect(isHere({ peer: '10.0.0.1' })).toBe(false)
    expect(isHere({ peer: '::ffff:127.0.0.1' })).toBe(true)
  })

  it.each([
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-forwarded-host',
    'x-real-ip',
    'forwarded',
    'via',
    'cf-connecting-ip',
  ])('is nobody whose request carries %s, even empty', (name) =>
    expect(isHere({ headers: { [name]: '' } })).toBe(false),
  )

  it('is nobody who speaks as proxies do by default', () => {
    expect(isHere({ version: [1, 0] })).toBe(false)
  })

  it('is no page of another site that was made to lead here', () => {
    expect(isHere({ headers: { origin: 'http://localhost:3000' } })).toBe(true)
    expect(isHere({ headers: { origin: 'https://evil.example' } })).toBe(false)
    expect(isHere({ headers: { origin: 'null' } })).toBe(false)
  })
})

describe('the address of a caller', () => {
  const addressOf = (trust: Trust, peer: string, forwarded?: string, more: Record<string, string> = {}) =>
    clientAddress(
      trusting(trust),
      request({ peer, headers: { ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }), ...more } }),
    )

  it('is the peer’s where no proxy is trusted, whatever headers say', () => {
    expect(addressOf({}, '203.0.113.9', '1.1.1.1', { 'x-real-ip': '1.1.1.1', 'cf-connecting-ip': '1.1.1.1' })).toBe(
      '203.0.113.9',
    )
    expect(addressOf({ trust: ['10.0.0.0/8'] }, '203.0.113.9', '1.1.1.1')).toBe('203.0.113.9')
    expect(addressOf({ behind: 'nginx' }, '203.0.113.9', '1.1.1.1')).toBe('203.0.113.9')
  })

  it('is read with ports, brackets and quotes, in one spelling', () => {
    for (const [written, read] of [
      ['1.2.3.4:567', '1.2.3.4'],
      ['[::1]:80', '::1'],
      ['[2001:DB8::1]', '2001:db8::1'],
      ['"[2001:db8::1]:4711"', '2001:db8::1'],
      ['::ffff:1.2.3.4', '1.2.3.4'],
      ['fe80::1%eth0', 'fe80::1'],
      [' 1.2.3.4 ', '1.2.3.4'],
    ] as const) {
      expect(addressOf({ trust: 1 }, '10.0.0.1', `6.6.6.6, ${written}`)).toBe(read)
    }
  })

  it.each([
    'unknown',
    '_hidden',
    '1.2.3',
    '12345',
    '0x7f.0.0.1',
    '010.0.0.1',
    '1.2.3.4:x',
    '',
    '1.2.3.4.5',
    '::ffff:999.1.1.1',
  ])('is never what stands left of an entry like %j, which is a hop all the same', (entry) => {
    expect(addressOf({ trust: 1 }, '10.0.0.1', `6.6.6.6, ${entry}`)).toBe('10.0.0.1')
    expect(addressOf({ trust: ['10.0.0.1'] }, '10.0.0.1', `6.6.6.6, ${entry}`)).toBe('10.0.0.1')
    expect(addressOf({ trust: 2 }, '10.0.0.1', `6.6.6.6, 1.2.3.4, ${entry}`)).toBe('1.2.3.4')
  })

  it('skips private proxies in front by the documented rule, also beside a number of hops', () => {
    expect(addressOf({ behind: 'nginx' }, '127.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.5')).toBe('1.2.3.4')
    expect(addressOf({ behind: 'nginx', trust: 1 }, '127.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.5')).toBe('1.2.3.4')
    expect(addressOf({ behind: 'nginx', trust: ['198.51.100.7'] }, '127.0.0.1', '6.6.6.6, 1.2.3.4, 198.51.100.7')).toBe(
      '1.2.3.4',
    )
    expect(addressOf({ behind: 'nginx' }, '127.0.0.1', '10.0.0.9, 10.0.0.5')).toBe('10.0.0.9')
  })

  it('is another header’s where the documents say so', () => {
    expect(addressOf({ behind: 'nginx' }, '127.0.0.1', undefined, { 'x-real-ip': '1.2.3.4' })).toBe('1.2.3.4')
    const cloudflare = { 'cf-connecting-ip': '2001:db8::7' }
    expect(addressOf({ behind: 'cloudflare' }, '127.0.0.1', undefined, cloudflare)).toBe('2001:db8::7')
    expect(addressOf({ behind: 'cloudflare' }, '127.0.0.1', '6.6.6.6, 172.68.1.2', cloudflare)).toBe('2001:db8::7')
    expect(addressOf({ behind: 'cloudflare' }, '127.0.0.1', '172.68.1.2, 10.0.0.5', cloudflare)).toBe('2001:db8::7')
    expect(addressOf({ behind: 'cloudflare' }, '127.0.0.1', '6.6.6.6, 2001:db8::7', cloudflare)).toBe('2001:db8::7')
    expect(addressOf({ behind: 'cloudflare' }, '172.68.1.2', '6.6.6.6', cloudflare)).toBe('2001:db8::7')
    // A tunnel in front of a proxy that names nobody but whoever called it.
    expect(addressOf({ behind: 'cloudflare' }, '172.18.0.2', '172.18.0.3', cloudflare)).toBe('2001:db8::7')
    const listed = { behind: 'cloudflare' as const, trust: ['203.0.113.5'] }
    expect(addressOf(listed, '203.0.113.5', '203.0.113.5', cloudflare)).toBe('2001:db8::7')
    expect(addressOf({ behind: 'cloudflare' }, '203.0.113.9', '6.6.6.6', cloudflare)).toBe('203.0.113.9')
    expect(addressOf({ behind: 'nginx' }, '172.68.1.2', '6.6.6.6')).toBe('172.68.1.2')
    expect(addressOf({ behind: 'cloudflare' }, '127.0.0.1')).toBe('127.0.0.1')
    expect(addressOf({ trust: 1 }, '127.0.0.1', undefined, { 'x-real-ip': '6.6.6.6' })).toBe('127.0.0.1')
  })

  it('is not what a caller writes for Cloudflare, who reaches the operator’s own proxy without it', () => {
    const forged = { 'cf-connecting-ip': '198.51.100.7' }
    for (const trust of [undefined, 1, ['10.0.0.5']]) {
      const behind = { behind: 'cloudflare' as const, ...(trust === undefined ? {} : { trust }) }
      expect(addressOf(behind, '127.0.0.1', '203.0.113.9', forged)).toBe('203.0.113.9')
      expect(addressOf(behind, '127.0.0.1', '172.68.1.2, 203.0.113.9', forged)).toBe('203.0.113.9')
      expect(addressOf(behind, '127.0.0.1', '198.51.100.7, 203.0.113.9, 10.0.0.5', forged)).toBe('203.0.113.9')
      expect(addressOf(behind, '127.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
    }
  })

  test('a proxy that nobody named is known by its word for others, while nothing is trusted', () => {
    const isUnknown = (trust: Trust, peer: string, forwarded?: string) =>
      clientOf(trusting(trust), request({ peer, headers: { 'x-forwarded-for': forwarded } })).unknownProxy === true
    expect(isUnknown({}, '127.0.0.1', '203.0.113.9')).toBe(true)
    expect(isUnknown({}, '172.18.0.2', '203.0.113.9')).toBe(true)
    expect(isUnknown({}, '127.0.0.1')).toBe(false)
    expect(isUnknown({}, '198.51.100.1', '203.0.113.9')).toBe(false)
    expect(isUnknown({ trust: 1 }, '127.0.0.1', '203.0.113.9')).toBe(false)
    expect(isUnknown({ behind: 'nginx' }, '127.0.0.1', '203.0.113.9')).toBe(false)
  })

  const octet = fc.integer({ min: 0, max: 255 })
  const outside = fc.tuple(octet, octet, octet).map((parts) => `203.${parts.join('.')}`)
  const ours = fc.tuple(octet, octet).map((parts) => `10.0.${parts.join('.')}`)
  const claim = fc.oneof(outside, ours, fc.constantFrom('unknown', '', ' ', '1.2.3', '[::1]:80', '"', ',', '127.0.0.1'))

  test('whatever a caller claims, every trusted chain of proxies gives the address that called its outermost', () => {
    const chain = fc.record({
      claims: fc.array(claim, { maxLength: 5 }),
      caller: outside,
      proxies: fc.array(ours, { minLength: 1, maxLength: 4 }),
      ports: fc.boolean(),
    })
    fc.assert(
      fc.property(chain, ({ claims, caller, proxies, ports }) => {
        const written = [caller, ...proxies.slice(0, -1)].map((ip) => (ports ? `${ip}:4711` : ip))
        const forwarded = [...claims, ...written].join(', ')
        const peer = proxies.at(-1) ?? ''
        for (const trust of [
          { trust: proxies.length },
          { trust: ['10.0.0.0/16'] },
          { behind: 'nginx' as const },
          { behind: 'nginx' as const, trust: 1 },
        ]) {
          expect(addressOf(trust, peer, forwarded)).toBe(caller)
        }
      }),
    )
  })
})

test('an address list that cannot be read lets nobody in, an empty one everybody', () => {
  expect(isAllowedAddress('10.0.0.1', ' \n ')).toBe(true)
  expect(isAllowedAddress('10.0.0.1', 'nonsense')).toBe(false)
  expect(isAllowedAddress('10.0.0.1', 'nonsense\n10.0.0.0/8')).toBe(true)
  expect(isAllowedAddress('10.0.0.1', '::ffff:10.0.0.0/104')).toBe(true)
  expect(isAllowedAddress('2001:db8::1', '10.0.0.0/8, 2001:db8::/32')).toBe(true)
  expect(isAllowedAddress('', '10.0.0.0/8')).toBe(false)
})

test('a network is an IPv4 address or the /64 of an IPv6 one', () => {
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe(networkOf('2001:db8:1:2::1'))
  expect(networkOf('2001:db8:1:3::1')).not.toBe(networkOf('2001:db8:1:2::1'))
  expect(networkOf('203.0.113.7')).toBe('203.0.113.7')
  expect(networkOf('::ffff:203.0.113.7')).toBe('203.0.113.7')
})
