import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exactShare } from './exact.ts'

describe('a share of figures', () => {
  it.each([
    [[10, 7.3, 1, 100], 1, 7300],
    [[1, 1.005, 100], 1, 101],
    [[3, 0.35, 100], 1, 105],
    [[1, 8.165, 100], 1, 817],
    [[1e21, 1e-7], 1, 100_000_000_000_000],
  ])('of %j over %d rounds half up at the exact figure: %d', (factors, divisor, expected) => {
    expect(exactShare(factors, divisor, 'half-up')).toBe(expected)
  })

  it.each([
    [[100, 0.29], 1, 29],
    [[999, 10], 100, 99],
    [[1, 0.1], 100, 0],
    [[500_000, 12.5], 100, 62_500],
  ])('of %j over %d rounds down at the exact figure: %d', (factors, divisor, expected) => {
    expect(exactShare(factors, divisor, 'down')).toBe(expected)
  })

  it('is the quotient of whole numbers', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 1_000_000 }), (amount, divisor) => {
        expect(exactShare([amount], divisor, 'down')).toBe(Math.floor(amount / divisor))
      }),
    )
  })

  it.each([-1, Number.NaN, Infinity])('refuses %d', (figure) => {
    expect(() => exactShare([figure], 1, 'down')).toThrow()
  })
})
