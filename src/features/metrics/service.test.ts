import { expect, it } from 'vitest'
import { createMetrics } from './service.ts'

it('a model that nobody has called for an hour gives its place to another one, with all that was counted of it', async () => {
  let now = 0
  const metrics = createMetrics([], () => now)
  const failed = (modelName: string) => metrics.failed({ failed: 'call', modelName, channelId: 1 })
  const labels = async () => {
    const text = await metrics.registry.metrics()
    return [...new Set([...text.matchAll(/model="([^"]+)"/g)].map(([, name]) => name))]
  }
  for (let index = 0; index < 500; index += 1) failed(`old-${index}`)
  now = 3_000_000
  failed('old-0')
  failed('new-1')
  expect((await labels()).filter((name) => !name?.startsWith('old-'))).toEqual(['other'])
  now = 3_600_000
  failed('new-1')
  failed('new-2')
  const after = await labels()
  expect(after).toEqual(expect.arrayContaining(['old-0', 'new-1', 'new-2', 'other']))
  expect(after).not.toContain('old-1')
  expect(after).not.toContain('old-2')
  expect(after).toHaveLength(501)
})
