import { describe, expect, test } from 'vitest'
import { fromUrl, toUrl, type ConnectionOptions } from './connection.ts'

describe('the address of a database', () => {
  test.each<[string, ConnectionOptions]>([
    ['postgres://db/app', { host: 'db', user: 'postgres', database: 'app' }],
    [
      'postgresql://ann:p%40ss@db.example:6432/app?sslmode=verify-full',
      { host: 'db.example', port: 6432, user: 'ann', password: 'p@ss', database: 'app', ssl: true },
    ],
    [
      'postgres://ann@db?sslmode=require',
      { host: 'db', user: 'ann', database: 'ann', ssl: { rejectUnauthorized: false } },
    ],
    ['postgres://ann@/app?host=/run/my%20db', { host: '/run/my db', user: 'ann', database: 'app' }],
    ['postgres:///app?host=/run/db&user=ann', { host: '/run/db', user: 'ann', database: 'app' }],
    ['postgres://ann@%2Frun%2Fdb/app', { host: '/run/db', user: 'ann', database: 'app' }],
  ])('reads %s', (url, expected) => {
    expect(fromUrl(url)).toEqual(expected)
  })

  test.each<ConnectionOptions>([
    { host: '/tmp/a folder', user: 'postgres', database: 'test 1' },
    { host: '::1', port: 5432, user: 'a:b', password: 'c/d@e', database: 'x', ssl: true },
    { host: 'db', user: 'ann', database: 'x', ssl: { rejectUnauthorized: false } },
  ])('comes back from its written form: $host', (connection) => {
    expect(fromUrl(toUrl(connection))).toEqual(connection)
  })

  test.each(['mysql://db/app', 'nonsense', 'postgres://db/app?sslmode=perhaps'])('refuses %s', (url) => {
    expect(() => fromUrl(url)).toThrow()
  })
})
