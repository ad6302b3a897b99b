import { expect, test } from 'vitest'
import { DomainError } from '#core/errors.ts'
import { createBodyBudget, smallBytes } from './budget.ts'

const megabyte = 1024 * 1024
const budgetOf = (limits: { memory?: number; memoryPerAddress?: number; waitMs?: number } = {}) =>
  createBodyBudget({ memory: 100 * megabyte, memoryPerAddress: 100 * megabyte, waitMs: 60_000, ...limits })

const codeOf = (waiting: Promise<void> | undefined): Promise<string> =>
  (waiting ?? Promise.resolve()).then(
    () => 'admitted',
    (error: unknown) => (error instanceof DomainError ? error.code : String(error)),
  )

test('bodies that fit wait for nobody, and what they held is free once they are over', async () => {
  const budget = budgetOf()
  const holdings = Array.from({ length: 100 }, (_, index) => budget.open(`10.0.0.${index % 10}`))
  for (const holding of holdings) expect(holding.raise(smallBytes)).toBeUndefined()
  expect([budget.heldBytes, budget.addresses]).toEqual([100 * megabyte, 10])
  // Less than what is held already changes nothing, and the same twice neither.
  expect(holdings[0]?.raise(10)).toBeUndefined()
  expect(budget.heldBytes).toBe(100 * megabyte)
  for (const holding of holdings) {
    holding.release()
    holding.release()
    expect(holding.raise(smallBytes)).toBeUndefined()
  }
  expect([budget.heldBytes, budget.addresses]).toEqual([0, 0])
})

test('hundreds of thousands of addresses leave nothing behind', () => {
  const budget = budgetOf()
  for (let index = 0; index < 200_000; index += 1) {
    const holding = budget.open(`2001:db8::${index.toString(16)}`)
    void holding.raise(1000)
    holding.release()
  }
  expect([budget.heldBytes, budget.addresses]).toEqual([0, 0])
})

test('who finds no room waits for it and goes on when it is there', async () => {
  const budget = budgetOf()
  const first = budget.open('a')
  const second = budget.open('b')
  expect(first.raise(60 * megabyte)).toBeUndefined()
  const waiting = codeOf(second.raise(60 * megabyte))
  expect(budget.heldBytes).toBe(60 * megabyte)
  first.release()
  expect(await waiting).toBe('admitted')
  expect([budget.heldBytes, second.bytes()]).toEqual([60 * megabyte, 60 * megabyte])
})

test('who needs less than before makes room for those who wait', async () => {
  const budget = budgetOf()
  const first = budget.open('a')
  expect(first.raise(60 * megabyte)).toBeUndefined()
  const waiting = codeOf(budget.open('b').raise(30 * megabyte))
  first.lower(40 * megabyte)
  expect(await waiting).toBe('admitted')
  first.lower(50 * megabyte)
  expect([budget.heldBytes, first.bytes()]).toEqual([70 * megabyte, 40 * megabyte])
})

test('who waits longer than is allowed is refused and holds what it held', async () => {
  const budget = budgetOf({ waitMs: 20 })
  void budget.open('a').raise(70 * megabyte)
  const second = budget.open('b')
  void second.raise(smallBytes)
  expect(await codeOf(second.raise(10 * megabyte))).toBe('input.no_room')
  expect(budget.heldBytes).toBe(71 * megabyte)
})

test('who hangs up while waiting leaves the row', async () => {
  const budget = budgetOf()
  const first = budget.open('a')
  void first.raise(90 * megabyte)
  const second = budget.open('b')
  const waiting = codeOf(second.raise(30 * megabyte))
  second.release()
  expect(await waiting).toBe('input.no_room')
  first.release()
  await new Promise((resolve) => setImmediate(resolve))
  expect([budget.heldBytes, budget.addresses]).toEqual([0, 0])
})

test('large bodies leave room for small ones, and the only large one goes on beside small ones', async () => {
  const budget = budgetOf({ waitMs: 20 })
  const large = Array.from({ length: 20 }, (_, index) => budget.open(`a${index}`))
  const codes = await Promise.all(large.map((holding) => codeOf(holding.raise(10 * megabyte))))
  expect(codes.filter((code) => code === 'admitted')).toHaveLength(7)
  const small = Array.from({ length: 30 }, (_, index) => budget.open(`b${index}`))
  for (const holding of small) expect(holding.raise(smallBytes)).toBeUndefined()

  for (const holding of large) holding.release()
  expect(budget.open('c').raise(90 * megabyte)).toBeUndefined()
})

test('one address takes its share and no more, whoever else there is', async () => {
  const budget = budgetOf({ memoryPerAddress: 20 * megabyte, waitMs: 20 })
  const holdings = Array.from({ length: 30 }, () => budget.open('the attacker'))
  const codes = await Promise.all(holdings.map((holding) => codeOf(holding.raise(smallBytes))))
  expect(codes.filter((code) => code === 'admitted')).toHaveLength(20)
  expect(codes.filter((code) => code === 'input.address_full')).toHaveLength(10)
  expect(budget.open('somebody else').raise(smallBytes)).toBeUndefined()
  // Whatever its own share is, one large body at a time goes through.
  expect(budget.open('a camera').raise(60 * megabyte)).toBeUndefined()
})

test('those who wait are looked after in their order, and those who still find no room wait on', async () => {
  const budget = budgetOf()
  const first = budget.open('a')
  void first.raise(75 * megabyte)
  const admitted: string[] = []
  const waiters = [40, 30, 10, 5].map((size) => {
    const holding = budget.open(`b${size}`)
    void holding.raise(size * megabyte)?.then(
      () => admitted.push(String(size)),
      () => {},
    )
    return holding
  })
  expect(admitted).toEqual([])
  first.release()
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.resolve()
  expect(admitted).toEqual(['40', '30', '5'])
  expect(budget.heldBytes).toBe(75 * megabyte)
  for (const holding of waiters) holding.release()
  expect(budget.heldBytes).toBe(0)
})
