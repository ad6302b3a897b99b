import { useRef } from 'react'

/** The row that the address names. It stays while what shows it is open, though a refresh of the list leaves it out. */
export function useOpenRow<Row extends { id: number }>(id: number, rows: readonly Row[] | undefined): Row | undefined {
  const last = useRef<Row>(undefined)
  const found = rows?.find((row) => row.id === id)
  if (found || last.current?.id !== id) last.current = found
  return last.current
}
