const signs = new Map<string | null, string>([
  ['USD', '$'],
  ['CNY', '¥'],
  [null, ''],
])

/** What an upstream says is left, in its own currency; null: in points of its own, which have no sign. */
export function balanceText(balance: number, currency: string | null): string {
  const sign = signs.get(currency) ?? `${currency} `
  const figure = Math.abs(balance).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  return `${balance < 0 ? '-' : ''}${sign}${figure}`
}
