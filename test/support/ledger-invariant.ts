import type { Pool } from 'pg'

/**
 * What must hold of the money at every moment nothing is in flight: for each user granted − balance = open holds + used, both
 * without what subscriptions hold and paid; what windows of spend caps and subscriptions count is what was charged there, not
 * given back, and what is held; and what was used is what the log says; where not every call was logged, what the hourly sums
 * say. Returns the violations in words; empty is good.
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
    planned: string
    hourly: string
  }>(`
    select u.id, u.quota, u.used_quota as used,
      coalesce((select sum(amount) from grants g where g.user_id = u.id), 0) as granted,
      coalesce((select sum(amount - plan_amount) from holds h where h.user_id = u.id and h.status = 'open'), 0) as held,
      coalesce((select sum(quota) from ${booked} l where l.user_id = u.id), 0) as logged,
      coalesce((select sum(s.used_quota) from subscriptions s where s.user_id = u.id), 0) as planned,
      coalesce((select sum(l.plan_quota) from usage_hourly l where l.user_id = u.id), 0) as hourly
    from users u`)
  const ofUsers = rows.flatMap((row) => {
    const [granted, quota, held, used, logged, planned, hourly] = [
      row.granted,
      row.quota,
      row.held,
      row.used,
      row.logged,
      row.planned,
      row.hourly,
    ].map(Number) as [number, number, number, number, number, number, number]
    return [
      ...(granted - quota === held + used - planned
        ? []
        : [
            `user ${row.id}: granted ${granted} − balance ${quota} ≠ held ${held} + used ${used} − paid by plans ${planned}`,
          ]),
      ...(planned === hourly ? [] : [`user ${row.id}: paid by plans ${planned} ≠ by the hour ${hourly}`]),
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
  const ofPlans = await planViolations(pool, everyCallIsLogged)
  const sum = sums[0]
  if (!sum) return ['no sums']
  return [
    ...ofUsers,
    ...ofCaps,
    ...ofPlans,
    ...(sum.logged === sum.hourly ? [] : [`logged ${sum.logged} ≠ hourly ${sum.hourly}`]),
    ...(sum.logged === sum.channels ? [] : [`logged ${sum.logged} ≠ channels ${sum.channels}`]),
    ...(sum.keyed === sum.tokens ? [] : [`logged with a token ${sum.keyed} ≠ tokens ${sum.tokens}`]),
  ]
}

/** The names of a logged call's model, as the caller wrote it and without the prefix of its channel. */
const namesOfRow = `l.model_name || coalesce((select E'\\n' || substr(l.model_name, length(p.model_prefix) + 1) from channels p
  where p.id = l.channel_id and p.model_prefix <> '' and starts_with(l.model_name, p.model_prefix)), '')`

/** Needs every charge in the log, for that is where its model stands; without, only caps on every model are looked at. */
async function capViolations(pool: Pool, everyCallIsLogged: boolean): Promise<string[]> {
  const charged = everyCallIsLogged
    ? `(select sum(l.quota) from logs l where l.type = 2 and l.created_at >= c.created_at and ledger_cap_covers(c.models, ${namesOfRow})
         and case when c.scope = 'user' then l.user_id else l.token_id end = c.subject_id)`
    : `(select sum(h.quota) from usage_hourly h where case when c.scope = 'user' then h.user_id else h.token_id end = c.subject_id)`
  const { rows } = await pool.query<{ id: number; counted: string; charged: string; held: string }>(`
    select c.id, coalesce((select sum(b.amount) from spend_cap_buckets b where b.cap_id = c.id), 0) as counted,
      coalesce(${charged}, 0) as charged,
      coalesce((select sum(h.amount) from holds h where h.status = 'open' and h.caps ? c.id::text), 0) as held
    from spend_caps c where c.scope <> 'subscription' ${everyCallIsLogged ? '' : 'and cardinality(c.models) = 0'}`)
  return rows
    .filter(({ counted, charged: spent, held }) => Number(counted) !== Number(spent) + Number(held))
    .map(({ id, counted, charged: spent, held }) => `cap ${id}: counted ${counted} ≠ charged ${spent} + held ${held}`)
}

/** Each window of a subscription has counted all that it paid; its log rows, and what is kept for refunds, say as much. */
async function planViolations(pool: Pool, everyCallIsLogged: boolean): Promise<string[]> {
  const { rows } = await pool.query<
    Record<'id' | 'used' | 'refunded' | 'held' | 'logged' | 'stored', string> & { counted: string[] }
  >(`
    select s.id, s.used_quota as used, s.refunded_quota as refunded,
      coalesce((select sum(h.plan_amount) from holds h where h.status = 'open' and h.subscription_id = s.id), 0) as held,
      coalesce((select sum((l.other -> 'plan' ->> 'quota')::bigint) from logs l
        where l.type = 2 and (l.other -> 'plan' ->> 'id')::int = s.id), 0) as logged,
      coalesce((select sum(c.amount) from subscription_charges c where c.subscription_id = s.id), 0) as stored,
      array(select coalesce(sum(b.amount), 0) from spend_caps c left join spend_cap_buckets b on b.cap_id = c.id
        where c.scope = 'subscription' and c.subject_id = s.id group by c.id)::text[] as counted
    from subscriptions s`)
  return rows.flatMap(({ id, counted, ...sums }) => {
    const { used, refunded, held, logged, stored } = Object.fromEntries(
      Object.entries(sums).map(([name, sum]) => [name, Number(sum)]),
    ) as Record<keyof typeof sums, number>
    return [
      ...counted
        .filter((sum) => Number(sum) !== used - refunded + held)
        .map((sum) => `subscription ${id}: counted ${sum} ≠ used ${used} − refunded ${refunded} + held ${held}`),
      ...(used === stored ? [] : [`subscription ${id}: used ${used} ≠ stored ${stored}`]),
      ...(used === logged || !everyCallIsLogged ? [] : [`subscription ${id}: used ${used} ≠ logged ${logged}`]),
    ]
  })
}
