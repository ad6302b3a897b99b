import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { clientOf } from './service.ts'

type Given = Parameters<typeof clientOf>[0]
const services = { environment: {}, options: { get: () => false } } as unknown as Given
const opened = (host: string | undefined, remoteAddress = '127.0.0.1') =>
  clientOf(services, { socket: { remoteAddress }, headers: { host } } as unknown as IncomingMessage).loopback

test.each(['localhost', 'localhost:3000', '127.0.0.1:3000', '[::1]:3000', '127.0.0.2', 'console.localhost:3000'])(
  'who opens %s on this machine is at this machine',
  (host) => expect(opened(host)).toBe(true),
)

test.each(['evil.example', 'evil.example:3000', 'localhost.evil.example', '192.0.2.7:3000', '', 'a b', undefined])(
  'a stranger’s name that leads to this machine (%s) is not this machine',
  (host) => expect(opened(host)).toBe(false),
)

test('the name alone makes nobody local', () => {
  expect(opened('localhost:3000', '192.0.2.7')).toBe(false)
})
