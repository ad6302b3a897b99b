export type StandingRow = {
  id: number
  scope: 'user' | 'token' | 'subscription'
  subject_id: number
  source: string
  source_id: number
  period: 'rolling' | 'day' | 'week' | 'month'
  seconds: number
  zone: string
  amount: string
  models: string[]
  raised: boolean
  raised_amount: string | null
  raised_until: string | Date | null
  spent: string
  turns_at: string | null
}

/** A spend cap and how it stands. */
export const toCapView = (row: StandingRow) => {
  const amount = Number(row.amount)
  const limit = row.raised && row.raised_amount !== null ? Number(row.raised_amount) : amount
  const spent = Number(row.spent)
  return {
    id: row.id,
    scope: row.scope,
    subjectId: row.subject_id,
    /** Who set it. */
    source: row.source,
    sourceId: row.source_id,
    period: row.period,
    seconds: row.seconds,
    zone: row.zone,
    models: row.models,
    amount,
    /** What counts now: `amount`, or more for a while. */
    limit,
    raise:
      row.raised && row.raised_until !== null
        ? { amount: Number(row.raised_amount), until: new Date(row.raised_until) }
        : null,
    /** Charged, and held by calls under way. */
    spent,
    left: Math.max(0, limit - spent),
    /** The next calendar window, or when the first of it leaves a rolling one; null while nothing was spent there. */
    turnsAt: row.turns_at === null ? null : new Date(Number(row.turns_at) * 1000),
  }
}

export type CapView = ReturnType<typeof toCapView>
