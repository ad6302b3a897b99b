import { currentStatus } from '../../lib/status.ts'

type Amount = number | null | undefined

/** Quota in a CSV file as the screen shows it: dollars, or bare units where currency display is off. */
export const csvQuota = <Row>(quotaOf: (row: Row) => Amount) => ({
  csv: (row: Row): Amount => {
    const quota = quotaOf(row)
    const { displayInCurrency, quotaPerUnit } = currentStatus()
    return typeof quota === 'number' && displayInCurrency ? quota / quotaPerUnit : quota
  },
  csvUnit: () => (currentStatus().displayInCurrency ? 'USD' : ''),
})

export const csvMilliseconds = <Row>(timeOf: (row: Row) => Amount) => ({ csv: timeOf, csvUnit: () => 'ms' })
