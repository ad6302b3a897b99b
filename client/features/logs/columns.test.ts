import { expect, test } from 'vitest'
import { logType } from '#core/statuses.ts'
import { toCsv } from '../../components/data-table/csv.ts'
import { costColumn } from './columns.tsx'
import type { LogRow } from './use-logs.ts'

const row = (type: number, quota: number) => ({ type, quota }) as LogRow

test('a file of the log adds up what calls cost apart from what was credited, given back or taken from the balance', () => {
  const rows = [
    row(logType.consume, 250_000),
    row(logType.system, 250_000),
    row(logType.topUp, 5_000_000),
    row(logType.system, -5_000_000),
    row(logType.manage, 0),
    row(logType.consume, 0),
  ]
  expect(toCsv([costColumn()], rows).split('\r\n')).toEqual([
    '费用 (USD),入账 (USD)',
    '0.5,',
    ',0.5',
    ',10',
    ',-10',
    ',',
    '0,',
  ])
})
