/** A figure as it is written: 7.3 is 73 tenths, where a double would only come close. */
function written(figure: number): { digits: bigint; scale: number } {
  if (!Number.isFinite(figure) || figure < 0) throw new Error(`not a figure of money: ${figure}`)
  const [, integer = '0', fraction = '', exponent = '0'] =
    /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(figure)) ?? []
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(integer + fraction)
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

/** The factors multiplied and divided as they are written, by one divisor or several, then rounded once. */
export function exactShare(
  factors: readonly number[],
  divisor: number | readonly number[],
  rounding: 'down' | 'half-up',
): number {
  let numerator = 1n
  let denominator = 1n
  for (const factor of factors) {
    const { digits, scale } = written(factor)
    numerator *= digits
    denominator *= 10n ** BigInt(scale)
  }
  for (const each of [divisor].flat()) {
    const { digits, scale } = written(each)
    if (digits === 0n) throw new Error('a share of nothing')
    denominator *= digits
    numerator *= 10n ** BigInt(scale)
  }
  const rounded = rounding === 'down' ? numerator / denominator : (2n * numerator + denominator) / (2n * denominator)
  return Number(rounded)
}
