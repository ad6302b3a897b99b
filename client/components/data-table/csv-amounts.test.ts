import { expect, test } from 'vitest'
import { currentStatus, rememberStatus } from '../../lib/status.ts'
import { csvMilliseconds, csvQuota } from './csv-amounts.ts'
import { toCsv } from './csv.ts'

type Row = { quota: number | null; time: number }

const rows: Row[] = [
  { quota: 3786, time: 8700 },
  { quota: null, time: 0 },
]
const written = () =>
  toCsv(
    [
      { title: 'Cost', ...csvQuota(({ quota }: Row) => quota) },
      { title: 'Duration', ...csvMilliseconds(({ time }: Row) => time) },
    ],
    rows,
  ).split('\r\n')

test('quota is exported as the screen shows it, and the title says what numbers are of', () => {
  const before = currentStatus()
  try {
    rememberStatus({ ...before, displayInCurrency: true, quotaPerUnit: 500_000 })
    expect(written()).toEqual(['Cost (USD),Duration (ms)', '0.007572,8700', ',0'])
    rememberStatus({ ...before, displayInCurrency: false })
    expect(written()).toEqual(['Cost,Duration (ms)', '3786,8700', ',0'])
  } finally {
    rememberStatus(before)
  }
})
