import type { Column, CsvColumn } from './types.ts'

type CsvValue = ReturnType<CsvColumn<unknown>['csv']>
type Exported<Row> = Pick<Column<Row>, 'title' | 'csv' | 'csvUnit' | 'csvColumns'>

/** A spreadsheet would run a cell that begins like a formula; an apostrophe makes it text. */
const harmless = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

const field = (value: CsvValue): string => {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? harmless(value) : String(value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function titleOf({ title, csvUnit }: { title: string; csvUnit?: () => string }): string {
  const unit = csvUnit?.() ?? ''
  return unit === '' ? title : `${title} (${unit})`
}

const columnsOf = <Row>(columns: readonly Exported<Row>[]): CsvColumn<Row>[] =>
  columns.flatMap(({ csvColumns, csv, ...column }) => csvColumns ?? (csv === undefined ? [] : [{ ...column, csv }]))

/** With the line of titles unless `titled` is false: a file may be made of several parts. */
export function toCsv<Row>(columns: readonly Exported<Row>[], rows: readonly Row[], titled = true): string {
  const exported = columnsOf(columns)
  const lines = [
    ...(titled ? [exported.map((column) => field(titleOf(column)))] : []),
    ...rows.map((row) => exported.map((column) => field(column.csv(row)))),
  ]
  return lines.map((line) => line.join(',')).join('\r\n')
}

const revokedAfterMs = 60_000

/** The mark at the beginning marks for spreadsheets that the text is UTF-8. */
export function saveFile(name: string, content: string | string[], type = 'text/csv'): void {
  const mark = type === 'text/csv' ? '\uFEFF' : ''
  const address = URL.createObjectURL(new Blob([mark, ...[content].flat()], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Phones ask first whether it shall be saved.
  setTimeout(() => URL.revokeObjectURL(address), revokedAfterMs)
}
