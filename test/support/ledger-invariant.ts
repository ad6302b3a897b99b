import type { Pool } from 'pg'

/**
 * What must hold of the money at every moment nothing is in flight: for each user granted − balance = open holds + used,
 * what its spend caps count is what was charged since they were set and what is held; and what was used is what the log says; where not every call was logged, what the hourly sums say. Returns the violations
 * in words; empty is good.
 */
export async function ledgerViolations(pool: Pool, { everyCallIsLogged = true } = {}): Promise<string[]> {
  const booked = everyCallIsLogged
    ? '(select user_id, token_id, quota from logs where type = 2)'
    : '(select user_id, token_id, quota from usage_hourly)'
  const { rows } = await pool.query<{
    id: number
    granted: string
    quota: string
    held: string
    used: string
    logged: string
  }>(`
    select u.id, u.quota, u.used_quota as used,
      coalesce((select sum(amount) from grants g where g.user_id = u.id), 0) as granted,
      coalesce((select sum(amount) from holds h where h.user_id = u.id and h.status = 'open'), 0) as held,
      coalesce((select sum(quota) from ${booked} l where l.user_id = u.id), 0) as logged
    from users u`)
  const ofUsers = rows.flatMap((row) => {
    const [granted, quota, held, used, logged] = [row.granted, row.quota, row.held, row.used, row.logged].map(
      Number,
    ) as [number, number, number, number, number]
    return [
      ...(granted - quota === held + used
        ? []
        : [`user ${row.id}: granted ${granted} − balance ${quota} ≠ held ${held} + used ${used}`]),
      ...(used === logged ? [] : [`user ${row.id}: used ${used} ≠ logged ${logged}`]),
    ]
  })
  const { rows: sums } = await pool.query<{
    logged: string
    hourly: string
    channels: string
    tokens: string
    keyed: string
  }>(`
    select (select coalesce(sum(quota), 0) from ${booked} l) as logged,
      (select coalesce(sum(quota), 0) from usage_hourly) as hourly,
      (select coalesce(sum(used_quota), 0) from channels) as channels,
      (select coalesce(sum(used_quota), 0) from tokens) as tokens,
      (select coalesce(sum(quota), 0) from ${booked} l where token_id <> 0) as keyed`)
  const ofCaps = await capViolations(pool, everyCallIsLogged)
  const sum = sums[0]
  if (!sum) return ['no sums']
  return [
    ...ofUsers,
    ...ofCaps,
    ...(sum.logged === sum.hourly ? [] : [`logged ${sum.logged} ≠ hourly ${sum.hourly}`]),
    ...(sum.logged === sum.channels ? [] : [`logged ${sum.logged} ≠ channels ${sum.channels}`]),
    ...(sum.keyed === sum.tokens ? [] : [`logged with a token ${sum.keyed} ≠ tokens ${sum.tokens}`]),
  ]
}

/** Needs every charge in the log, for that is where its model is told; without, only caps on every model are looked at. */
async function capViolations(pool: Pool, everyCallIsLogged: boolean): Promise<string[]> {
  const charged = everyCallIsLogged
    ? `(select sum(l.quota) from logs l where l.type = 2 and l.created_at >= c.created_at and ledger_cap_covers(c.models, l.model_name)
         and case when c.scope = 'user' then l.user_id else l.token_id end = c.subject_id)`
    : `(select sum(h.quota) from usage_hourly h where case when c.scope = 'user' then h.user_id else h.token_id end = c.subject_id)`
  const { rows } = await pool.query<{ id: number; counted: string; charged: string; held: string }>(`
    select c.id, coalesce((select sum(b.amount) from spend_cap_buckets b where b.cap_id = c.id), 0) as counted,
      coalesce(${charged}, 0) as charged,
      coalesce((select sum(h.amount) from holds h where h.status = 'open' and h.caps ? c.id::text), 0) as held
    from spend_caps c ${everyCallIsLogged ? '' : 'where cardinality(c.models) = 0'}`)
  return rows
    .filter(({ counted, charged: spent, held }) => Number(counted) !== Number(spent) + Number(held))
    .map(({ id, counted, charged: spent, held }) => `cap ${id}: counted ${counted} ≠ charged ${spent} + held ${held}`)
}
