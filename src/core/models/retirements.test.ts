import { expect, test } from 'vitest'
import listed from './retirements.json' with { type: 'json' }
import { retirementOf } from './retirements.ts'

test('every retirement names the vendor whose list says so, its day and what comes after it', () => {
  for (const { vendor, model, retires, successor } of listed.models) {
    expect(Object.keys(listed.sources), model).toContain(vendor)
    expect(new Date(retires).toISOString().slice(0, 10), model).toBe(retires)
    expect(retirementOf(successor)?.retires.getTime() ?? Infinity, model).toBeGreaterThan(Date.parse(retires))
  }
  expect(new Set(listed.models.map(({ model }) => model)).size).toBe(listed.models.length)
})

test('a model is found behind the name of its seller', () => {
  expect(retirementOf('anthropic/claude-2.1')).toMatchObject({ retires: new Date('2025-07-21T00:00:00Z') })
  expect(retirementOf('claude-9')).toBeUndefined()
})

test.each([
  ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929', '2026-11-30'],
  ['gpt-5', 'gpt-5-2025-08-07', '2026-12-11'],
  ['gpt-4o', 'gpt-4o-2024-11-20', '2027-01-14'],
])('%s ends with the last model that it stands for, %s', (model, dated, day) => {
  for (const name of [model, dated]) expect(retirementOf(name)?.retires).toEqual(new Date(`${day}T00:00:00Z`))
})
