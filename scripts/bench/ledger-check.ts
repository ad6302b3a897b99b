import type { Pool } from 'pg'

/**
 * What makes a run void: a log row too many or too few, a sum that disagrees, quota still set aside. `answers` is what the
 * generator received in full from the gateway.
 */
export async function ledgerFaults(pool: Pool, answers: number): Promise<string[]> {
  const { rows } = await pool.query<Record<string, string>>(`
    select (select count(*) from logs where type = 2) as logs,
      (select coalesce(sum(count), 0) from usage_hourly) as counted,
      (select count(*) from holds where status = 'open') as holds,
      (select coalesce(sum(quota), 0) from logs where type = 2) as logged,
      (select coalesce(sum(quota), 0) from usage_hourly) as hourly,
      (select coalesce(sum(used_quota), 0) from channels) as channels,
      (select coalesce(sum(used_quota), 0) from tokens) as tokens,
      (select coalesce(sum(request_count), 0) from users) as requests,
      (select count(*) from users u where quota + used_quota <> (select sum(amount) from grants g where g.user_id = u.id)) as uneven,
      (select count(*) from tokens t join users u on u.id = t.user_id where t.remain_quota <> u.quota) as uneven_tokens,
      (select count(*) from users u where used_quota <>
        (select coalesce(sum(quota), 0) from logs l where l.user_id = u.id and type = 2)) as unlogged`)
  const sums = Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Number(value)]))
  const equal = (left: string, right: string) =>
    sums[left] === sums[right] ? [] : [`${left} ${sums[left]} ≠ ${right} ${sums[right]}`]
  const none = (name: string, words: string) => (sums[name] === 0 ? [] : [`${sums[name]} ${words}`])
  return [
    ...(sums['logs'] === answers ? [] : [`logs ${sums['logs']} ≠ answers ${answers}`]),
    ...equal('logs', 'counted'),
    ...equal('logs', 'requests'),
    ...equal('logged', 'hourly'),
    ...equal('logged', 'channels'),
    ...equal('logged', 'tokens'),
    ...(Number(sums['logged']) > 0 ? [] : ['nothing was charged']),
    ...none('holds', 'holds are open'),
    ...none('uneven', 'users whose grants, balance and use disagree'),
    ...none('uneven_tokens', 'tokens that kept another balance than their user'),
    ...none('unlogged', 'users whose use and log disagree'),
  ]
}
