import { resolveObjectURL } from 'node:buffer'
import { expect, test, vi } from 'vitest'
import { saveFile, toCsv } from './csv.ts'

const columns = [
  { title: '名称', csv: (row: { name: string; cost: number }) => row.name },
  { title: 'Sparkline' },
  { title: 'Cost', csv: (row: { name: string; cost: number }) => row.cost },
]

test('exports the columns that have a text, with a line of titles', () => {
  expect(toCsv(columns, [{ name: '甲', cost: 1.5 }])).toBe('名称,Cost\r\n甲,1.5')
})

test('quotes separators, quotes and line breaks', () => {
  expect(toCsv(columns.slice(0, 1), [{ name: 'a,"b"\nc', cost: 0 }])).toBe('名称\r\n"a,""b""\nc"')
})

test('a text that a spreadsheet would run as a formula becomes harmless, a negative number stays a number', () => {
  expect(toCsv(columns, [{ name: '=HYPERLINK(1)', cost: -2 }])).toBe("名称,Cost\r\n'=HYPERLINK(1),-2")
})

test('a cell with several figures has a column for each, in place of its own', () => {
  const figures = [
    { title: 'Used', csv: (row: { name: string; cost: number }) => row.cost, csvUnit: () => 'USD' },
    { title: 'Total', csv: () => 10 },
  ]
  const spend = { title: 'Used / total', csv: () => 'never', csvColumns: figures }
  expect(toCsv([spend, ...columns], [{ name: '甲', cost: 1.5 }])).toBe('Used (USD),Total,名称,Cost\r\n1.5,10,甲,1.5')
})

test('a file can still be taken when its reader has thought about it for half a minute, and is let go of later', async () => {
  vi.useFakeTimers()
  let address = ''
  vi.stubGlobal('document', {
    createElement: () => ({
      set href(given: string) {
        address = given
      },
      click: () => {},
    }),
  })
  try {
    saveFile('calls.csv', 'a,b')
    await vi.advanceTimersByTimeAsync(30_000)
    expect(resolveObjectURL(address)?.size).toBe(6)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(resolveObjectURL(address)).toBeUndefined()
  } finally {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  }
})
