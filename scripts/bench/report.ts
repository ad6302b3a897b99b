/** One line of the closing table: what was reached against what is wanted. */
export type Verdict = {
  what: string
  bare: string
  gateway: string
  /** What is compared with the bar. */
  value: number
  shown: string
  bar: number
  goal: number
  unit: string
  better: 'more' | 'less'
}

export function printTable(title: string, head: string[], rows: string[][]): void {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (row: string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
  console.log(`\n${title}\n`)
  console.log(`  ${line(head)}`)
  console.log(`  ${widths.map((width) => '─'.repeat(width)).join('  ')}`)
  for (const row of rows) console.log(`  ${line(row)}`)
}

export const fixed = (value: number, digits = 0): string =>
  Number.isFinite(value)
    ? value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : '–'

const isReached = ({ value, better }: Verdict, bar: number): boolean =>
  better === 'more' ? value >= bar : value <= bar

export function printVerdicts(verdicts: Verdict[]): void {
  const rows = verdicts.map((verdict) => {
    const { what, bare, gateway, shown, bar, goal, unit } = verdict
    const reached = isReached(verdict, goal) ? 'goal' : isReached(verdict, bar) ? 'bar' : 'below'
    return [what, bare, gateway, shown, `${bar}${unit}`, `${goal}${unit}`, reached]
  })
  printTable('Against the bar', ['what', 'bare', 'gateway', 'value', 'first bar', 'goal', 'reached'], rows)
}
