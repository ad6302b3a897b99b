import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  add,
  ceil,
  compare,
  decimalOf,
  divide,
  floor,
  multiply,
  roundHalfAway,
  subtract,
  toSafeInteger,
  toText,
} from './decimal.ts'

describe('decimal', () => {
  test('reads numbers as the decimal they print as, exponents included', () => {
    expect(toText(decimalOf(0.1))).toBe('0.1')
    expect(toText(decimalOf(1e-7))).toBe('0.0000001')
    expect(toText(decimalOf(1.5e21))).toBe('1500000000000000000000')
    expect(toText(decimalOf('-12.50'))).toBe('-12.5')
    expect(toText(decimalOf('.5'))).toBe('0.5')
  })

  test('refuses what is not a number instead of computing with it', () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, '', '.', '1,5', '0x10', '1e99999', '1e5000', 'one']) {
      expect(() => decimalOf(wrong)).toThrow(RangeError)
    }
  })

  test('adds a tenth and two tenths to exactly three tenths', () => {
    expect(toText(add(decimalOf(0.1), decimalOf(0.2)))).toBe('0.3')
  })

  test('rounds a half away from zero on both sides', () => {
    expect(roundHalfAway(decimalOf('2.5'))).toBe(3n)
    expect(roundHalfAway(decimalOf('-2.5'))).toBe(-3n)
    expect(roundHalfAway(decimalOf('2.4999999999'))).toBe(2n)
  })

  test('floors towards minus infinity and ceils towards plus infinity', () => {
    expect([floor(decimalOf('1.9')), floor(decimalOf('-1.1')), floor(decimalOf(-2))]).toEqual([1n, -2n, -2n])
    expect([ceil(decimalOf('1.1')), ceil(decimalOf('-1.9')), ceil(decimalOf(2))]).toEqual([2n, -1n, 2n])
  })

  test('divides to the asked number of digits, half away from zero', () => {
    expect(toText(divide(decimalOf(2), decimalOf(3), 4), 4)).toBe('0.6667')
    expect(toText(divide(decimalOf(-1), decimalOf(8), 2), 2)).toBe('-0.13')
    expect(toText(divide(decimalOf('0.5'), decimalOf('0.25'), 3))).toBe('2')
    expect(() => divide(decimalOf(1), decimalOf(0), 2)).toThrow('division by zero')
  })

  test('prints a fixed number of digits, rounding the last', () => {
    expect(toText(decimalOf('0.0000005'), 6)).toBe('0.000001')
    expect(toText(decimalOf('-0.005'), 2)).toBe('-0.01')
    expect(toText(decimalOf(7), 2)).toBe('7.00')
  })

  test('stays at the largest exact number instead of losing units', () => {
    expect(toSafeInteger(10n ** 30n)).toBe(Number.MAX_SAFE_INTEGER)
    expect(toSafeInteger(-(10n ** 30n))).toBe(-Number.MAX_SAFE_INTEGER)
  })

  test('agrees with whole-number arithmetic on scaled numbers', () => {
    const scaled = fc.record({
      units: fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
      scale: fc.integer({ min: 0, max: 8 }),
    })
    fc.assert(
      fc.property(scaled, scaled, (left, right) => {
        const raise = (value: typeof left): bigint => value.units * 10n ** BigInt(8 - value.scale)
        expect(compare(add(left, right), { units: raise(left) + raise(right), scale: 8 })).toBe(0)
        expect(compare(subtract(left, right), { units: raise(left) - raise(right), scale: 8 })).toBe(0)
        expect(compare(multiply(left, right), { units: raise(left) * raise(right), scale: 16 })).toBe(0)
        expect(floor(left) <= roundHalfAway(left) && roundHalfAway(left) <= ceil(left)).toBe(true)
      }),
    )
  })
})
