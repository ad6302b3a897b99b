import { expect, test } from 'vitest'
import { toCsv } from '../../components/data-table/csv.ts'
import { tokenColumns } from './columns.tsx'
import type { Token } from './use-open-token.ts'

test('a file of tokens has what was used and what may be used in two columns, the second empty without a limit', () => {
  const columns = tokenColumns({ reveal: () => Promise.resolve(''), now: new Date(0), caps: new Map() })
  const limited = { usedQuota: 250_000, remainQuota: 500_000, unlimitedQuota: false } as Token
  const rows = [limited, { ...limited, unlimitedQuota: true }]
  expect(
    toCsv(
      columns.filter(({ id }) => id === 'spend'),
      rows,
    ),
  ).toBe('已用额度 (USD),总额度 (USD)\r\n0.5,1.5\r\n0.5,')
})
