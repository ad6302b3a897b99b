import { expect, test } from 'vitest'
import { createRowCache } from './row-cache.ts'

const codeError = (message: string, code: string, severity = 'ERROR') =>
  Object.assign(new Error(message), { code, severity })

/** A cache whose first askings fail. */
function failing(...errors: Error[]) {
  let asked = 0
  const cache = createRowCache<string, { id: number }>({
    load: async (keys) => {
      const error = errors[asked++]
      if (error) throw error
      return new Map(keys.map((key) => [key, { id: 1 }]))
    },
  })
  return { cache, asked: () => asked }
}

test('a row is read again where connections broke, so that ended sessions of the database fail no call', async () => {
  const { cache } = failing(
    new Error('Connection terminated unexpectedly'),
    codeError('terminating connection due to administrator command', '57P01', 'FATAL'),
    codeError('read ECONNRESET', 'ECONNRESET'),
  )
  expect(await cache.get('key')).toEqual({ id: 1 })
})

test.each([
  ['is too slow', codeError('canceling statement due to statement timeout', '57014')],
  ['does not answer', new Error('Query read timeout')],
  ['refuses the question', codeError('column "x" does not exist', '42703')],
])('a row of a database that %s is not read again', async (_, error) => {
  const { cache, asked } = failing(error)
  await expect(cache.get('key')).rejects.toBe(error)
  expect(asked()).toBe(1)
})
