import { useMemo } from 'react'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { rowsOf, tablesOf } from './rows.ts'

function usePriceTables() {
  const options = trpc.admin.options.list.useQuery(undefined, reportedWhenFailed)
  return useMemo(() => (options.data ? tablesOf(options.data) : undefined), [options.data])
}

export function usePriceRows() {
  const tables = usePriceTables()
  return useMemo(() => (tables ? rowsOf(tables) : undefined), [tables])
}
