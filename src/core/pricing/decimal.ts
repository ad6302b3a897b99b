import { withoutTrailing } from '../trailing.ts'

/**
 * Exact decimals for money: `units / 10^scale`. Charges are computed here and nowhere in floating point, so the same call
 * costs the same on every machine and in every browser.
 */
export type Decimal = { readonly units: bigint; readonly scale: number }

export type DecimalInput = number | string | bigint | Decimal

const decimalPattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,4}))?$/i
const largestExponent = 1000

const one: Decimal = { units: 1n, scale: 0 }

/**
 * Reads a number as the decimal a person sees when it is printed (0.1 is one tenth).
 * @throws {RangeError} for NaN, infinities and text that is no decimal number.
 */
export function decimalOf(value: DecimalInput): Decimal {
  if (typeof value === 'object') return value
  if (typeof value === 'bigint') return { units: value, scale: 0 }
  if (typeof value !== 'number') return parseDecimal(value.trim())
  return Number.isSafeInteger(value) ? { units: BigInt(value), scale: 0 } : fractionOf(value)
}

/** Ratios and prices: the same few numbers with every charge. */
const knownFractions = new Map<number, Decimal>()
const mostKnownFractions = 5000

function fractionOf(value: number): Decimal {
  const known = knownFractions.get(value)
  if (known) return known
  const decimal = parseDecimal(String(value))
  if (knownFractions.size >= mostKnownFractions) knownFractions.clear()
  knownFractions.set(value, decimal)
  return decimal
}

function parseDecimal(text: string): Decimal {
  const [matched, sign, integer = '', fraction = '', exponentText] = decimalPattern.exec(text) ?? []
  const exponent = Number(exponentText ?? 0)
  if (matched === undefined || integer + fraction === '' || Math.abs(exponent) > largestExponent) {
    throw new RangeError(`not a decimal number: ${text.slice(0, 40)}`)
  }
  const digits = BigInt(integer + fraction)
  const scale = fraction.length - exponent
  const units = sign === '-' ? -digits : digits
  return scale >= 0 ? { units, scale } : { units: units * powerOfTen(-scale), scale: 0 }
}

const powers: bigint[] = []
const powerOfTen = (exponent: number): bigint => (powers[exponent] ??= 10n ** BigInt(exponent))

function aligned(left: Decimal, right: Decimal): { left: bigint; right: bigint; scale: number } {
  const scale = Math.max(left.scale, right.scale)
  return {
    left: left.units * powerOfTen(scale - left.scale),
    right: right.units * powerOfTen(scale - right.scale),
    scale,
  }
}

export function add(left: Decimal, right: Decimal): Decimal {
  if (left.scale === right.scale) return { units: left.units + right.units, scale: left.scale }
  const both = aligned(left, right)
  return { units: both.left + both.right, scale: both.scale }
}

const negate = (value: Decimal): Decimal => ({ units: -value.units, scale: value.scale })

export const subtract = (left: Decimal, right: Decimal): Decimal => add(left, negate(right))

export const multiply = (left: Decimal, right: Decimal): Decimal => ({
  units: left.units * right.units,
  scale: left.scale + right.scale,
})

export const product = (factors: readonly Decimal[]): Decimal => factors.reduce(multiply, one)

/** Divides by a power of ten, which is always exact. */
export const shift = (value: Decimal, places: number): Decimal => ({ units: value.units, scale: value.scale + places })

/** The quotient to `digits` places, half away from zero; the only inexact operation. @throws {RangeError} on zero. */
export function divide(left: Decimal, right: Decimal, digits: number): Decimal {
  if (right.units === 0n) throw new RangeError('division by zero')
  const numerator = left.units * powerOfTen(right.scale + digits)
  const denominator = right.units * powerOfTen(left.scale)
  return { units: divideHalfAway(numerator, denominator), scale: digits }
}

export function compare(left: Decimal, right: Decimal): -1 | 0 | 1 {
  const both = aligned(left, right)
  return both.left === both.right ? 0 : both.left < both.right ? -1 : 1
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)

function divideHalfAway(numerator: bigint, denominator: bigint): bigint {
  const size = (magnitude(numerator) * 2n + magnitude(denominator)) / (magnitude(denominator) * 2n)
  return numerator < 0n === denominator < 0n ? size : -size
}

/** To the nearest whole number; a half goes away from zero. */
export const roundHalfAway = (value: Decimal): bigint => divideHalfAway(value.units, powerOfTen(value.scale))

export function floor(value: Decimal): bigint {
  const divisor = powerOfTen(value.scale)
  const quotient = value.units / divisor
  return value.units < 0n && quotient * divisor !== value.units ? quotient - 1n : quotient
}

export const ceil = (value: Decimal): bigint => -floor(negate(value))

/** With exactly `digits` places, or as many as the value needs when `digits` is absent. */
export function toText(value: Decimal, digits?: number): string {
  const scale = digits ?? value.scale
  const units =
    digits === undefined ? value.units : roundHalfAway({ units: value.units * powerOfTen(digits), scale: value.scale })
  const figures = magnitude(units)
    .toString()
    .padStart(scale + 1, '0')
  const integer = figures.slice(0, figures.length - scale)
  const fraction = figures.slice(figures.length - scale)
  const shown = digits === undefined ? withoutTrailing(fraction, '0') : fraction
  return `${units < 0n ? '-' : ''}${integer}${shown === '' ? '' : `.${shown}`}`
}

/** `2.500000` as `2.50`: an amount needs no more digits than it has, and some at the least. */
export function withoutNeedlessZeros(text: string, leastDigits: number): string {
  const point = text.indexOf('.')
  if (point < 0) return text
  return text.slice(0, point + 1 + leastDigits) + withoutTrailing(text.slice(point + 1 + leastDigits), '0')
}

export const toNumber = (value: Decimal): number => Number(toText(value))

/** A whole number as a JavaScript number; what is too large to be exact stays at the largest exact one. */
export const toSafeInteger = (value: bigint): number => {
  const largest = BigInt(Number.MAX_SAFE_INTEGER)
  return Number(value > largest ? largest : value < -largest ? -largest : value)
}
