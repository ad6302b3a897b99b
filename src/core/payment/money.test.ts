import { describe, expect, it } from 'vitest'
import { largestMoney, moneyFor, moneyText, quotaFor, readMoney } from './money.ts'

const perDollar = 500_000

describe('what is asked for a credit', () => {
  it.each([
    [{ quota: 10 * perDollar, price: 7.3, ratio: 1, currency: 'CNY' }, 7300],
    [{ quota: 3 * perDollar, price: 7.3, ratio: 0.95, currency: 'CNY' }, 2081],
    [{ quota: perDollar / 2, price: 7.3, ratio: 1, currency: 'CNY' }, 365],
    [{ quota: 2 * perDollar, price: 150, ratio: 1, currency: 'JPY' }, 300],
    [{ quota: 2 * perDollar, price: 0.31, ratio: 1, currency: 'KWD' }, 620],
    [{ quota: 1, price: 1, ratio: 1, currency: 'USD' }, 0],
    [{ quota: 100 * perDollar, price: 3700, ratio: 1, currency: 'UGX' }, 37_000_000],
    [{ quota: 3 * perDollar, price: 137.5, ratio: 1, currency: 'ISK' }, 41_300],
    [{ quota: 1, price: 137.5, ratio: 1, currency: 'ISK' }, 0],
  ])('is exact to the smallest unit: %j → %d', (asked, minor) => {
    expect(moneyFor({ quotaPerUnit: perDollar, ...asked })).toBe(minor)
  })
})

it.each([
  [{ moneyMinor: 990, price: 1.1, ratio: 1, currency: 'USD' }, 4_500_000],
  [{ moneyMinor: 3900, price: 7.3, ratio: 0.95, currency: 'CNY' }, 2_811_824],
  [{ moneyMinor: 1, price: 1e9, ratio: 1, currency: 'JPY' }, 1],
])('what is paid buys whole units, rounded down, one at least: %j → %d', (paid, quota) => {
  expect(quotaFor({ quotaPerUnit: perDollar, ...paid })).toBe(quota)
})

it.each([
  ['USD', '999999.99'],
  ['CNY', '999999.99'],
  ['JPY', '99999999'],
  ['INR', '9999999.99'],
  ['COP', '99999999.99'],
  ['IDR', '9999999999.99'],
])('the largest amount of %s that is asked for is %s, and is read back', (currency, text) => {
  expect(moneyText(largestMoney(currency), currency)).toBe(text)
  expect(readMoney(text, currency)).toBe(largestMoney(currency))
})

describe('an amount', () => {
  it.each([
    [7300, 'CNY', '73.00'],
    [5, 'CNY', '0.05'],
    [300, 'JPY', '300'],
    [620, 'KWD', '0.620'],
    [370_000, 'UGX', '3700.00'],
  ])('of %d %s is written %s and read back', (minor, currency, text) => {
    expect(moneyText(minor, currency)).toBe(text)
    expect(readMoney(text, currency)).toBe(minor)
  })

  it('is the same however many zeros end it', () => {
    for (const text of ['73', '73.0', '73.00', '73.000']) expect(readMoney(text, 'CNY')).toBe(7300)
  })

  it.each(['ISK', 'UGX'])('of %s has no fraction, as Stripe takes none', (currency) => {
    expect(readMoney('73.50', currency)).toBeNull()
    expect(readMoney('73', currency)).toBe(7300)
  })

  it.each(['', '-73.00', '73,00', '7.3e1', '0x49', '73.001', ' ', 'NaN', '７３', '1'.repeat(13)])(
    'is not %j',
    (text) => {
      expect(readMoney(text, 'CNY')).toBeNull()
    },
  )
})
