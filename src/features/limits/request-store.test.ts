import { expect, test } from 'vitest'
import { createMemoryStore } from './request-store.ts'

test('however many addresses ask, no more than two hundred thousand are remembered: those that asked last', async () => {
  const store = createMemoryStore(() => 1_000_000)
  const limit = { shape: 'sliding' as const, windowMs: 180_000, total: 2, success: 0 }
  const ask = (address: number) =>
    store.admit({ name: 'api', key: `2001:db8:${address.toString(16)}::/64`, id: 'r', limit })
  for (let address = 0; address < 300_000; address += 1) await ask(address)
  // The limit holds 2 requests a window: of those still remembered a second one is let in, a third is not.
  expect((await ask(299_999)).total?.remaining).toBe(0)
  expect((await ask(299_999)).refusedBy).toBe('total')
  expect((await ask(100_100)).total?.remaining).toBe(0)
  // Those before were forgotten, and begin anew.
  expect((await ask(0)).total?.remaining).toBe(1)
  expect((await ask(99_000)).total?.remaining).toBe(1)
})
