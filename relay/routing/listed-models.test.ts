import { expect, it } from 'vitest'
import { createListedModels } from './listed-models.ts'

it('a model is listed while some channel of the group names it, by itself or behind its prefix', () => {
  const listed = createListedModels()
  const plain = { groups: ['default', 'vip'], models: ['gpt-4o', 'gpt-4-gizmo-*'], modelPrefix: '' }
  const prefixed = { groups: ['default'], models: ['gpt-4o', 'gpt-4o-gizmo-*'], modelPrefix: 'eu/' }
  listed.add(plain)
  listed.add(prefixed)
  expect([listed.has('default', 'gpt-4o'), listed.has('vip', 'gpt-4o'), listed.has('other', 'gpt-4o')]).toEqual([
    true,
    true,
    false,
  ])
  expect(listed.has('default', 'eu/gpt-4o')).toBe(true)
  expect(listed.has('default', 'eu/gpt-4o-gizmo-abc')).toBe(true)
  expect(listed.has('vip', 'eu/gpt-4o')).toBe(false)
  expect(listed.has('default', 'eu/gpt-4')).toBe(false)
  listed.remove(plain)
  expect([listed.has('default', 'gpt-4o'), listed.has('vip', 'gpt-4o')]).toEqual([true, false])
  listed.remove(prefixed)
  expect([listed.has('default', 'gpt-4o'), listed.has('default', 'eu/gpt-4o')]).toEqual([false, false])
})
