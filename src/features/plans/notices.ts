import type { EntityManager } from '@mikro-orm/postgresql'
import type { Language } from '#core/errors.ts'
import { userStatus } from '#core/statuses.ts'
import { PlanNotice, type PlanNoticeKind } from '#db/entities/plan-notice.ts'
import type { UserSetting } from '#db/entities/user.ts'
import { inTransaction } from '#db/transaction.ts'
import type { Services } from '../deps.ts'
import { shownQuota } from '../ledger/shown-quota.ts'
import { deliver } from '../notifications/deliver.ts'
import type { Notice } from '../notifications/notice.ts'
import type { NoticeDeps } from '../notifications/service.ts'
import { publicAddress } from '../site/public-address.ts'
import { planLink, planWords, windowWords } from './notice-words.ts'

type Event = { subscriptionId: number; kind: PlanNoticeKind; key?: string; amount?: number }

/** Writes down, in the transaction of what happened, that its user is to be notified of it. Again is nothing. */
export const noteForUser = (em: EntityManager, event: Event): Promise<unknown> =>
  em.upsert(
    PlanNotice,
    { key: '', ...event },
    {
      onConflictFields: ['subscriptionId', 'kind', 'key'],
      onConflictAction: 'ignore',
      disableIdentityMap: true,
    },
  )

/** The same plan goes on after it. */
const isFollowed = `exists (select 1 from subscriptions f where f.user_id = s.user_id and f.plan_id = s.plan_id and f.id <> s.id
  and f.status = 'active' and f.ends_at > s.ends_at)`

/** A month's plan is said to end three days before, a week's one day before. */
const endingSql = `
  insert into plan_notices (subscription_id, kind, key)
  select s.id, 'ending', extract(epoch from s.ends_at)::bigint::text from subscriptions s
  where s.status = 'active' and s.starts_at <= ledger_clock() and s.ends_at > ledger_clock() and s.ends_at <= ledger_clock() + interval '3 days'
    and s.ends_at - least(interval '3 days', (s.ends_at - s.starts_at) / 7) <= ledger_clock() and not ${isFollowed}
  on conflict do nothing`

const endedSql = `
  insert into plan_notices (subscription_id, kind)
  select s.id, 'ended' from subscriptions s
  where s.status = 'expired' and s.ends_at > ledger_clock() - interval '1 day' and not ${isFollowed}
  on conflict do nothing`

/**
 * Windows that a charge of the last minutes has used up: what is left pays no call like those before. What calls under way hold
 * may come back. A rolling window has no beginning to identify it, so that it is mentioned once in its length.
 */
const exhaustedSql = `
  insert into plan_notices (subscription_id, kind, key, turns_at)
  select s.id, 'exhausted', c.id || '@' || case when c.period = 'rolling' then extract(epoch from ledger_clock())::bigint else w.bucket end,
    case when c.period <> 'rolling' or w.spent > 0
      then to_timestamp(ledger_cap_turn(c.id, c.period, c.seconds, c.zone, w.bucket, 1)::double precision) end
  from (select subscription_id, avg(amount) as usual from subscription_charges
      where created_at > now() - interval '10 minutes' and amount > 0 group by 1) u
    join subscriptions s on s.id = u.subscription_id
      and s.status = 'active' and s.starts_at <= ledger_clock() and s.ends_at > ledger_clock()
    join spend_caps c on c.scope = 'subscription' and c.subject_id = s.id
    cross join lateral (select ledger_cap_bucket(c.period, c.seconds, c.zone, ledger_clock()) as bucket) b
    cross join lateral (select b.bucket, ledger_cap_spent(c.id, c.period, c.seconds, b.bucket)
      - coalesce((select sum(h.plan_amount) from holds h where h.subscription_id = s.id and h.status = 'open'), 0) as spent) w
  where c.amount - w.spent <= least(c.amount / 100, u.usual)
    and not (c.period = 'rolling' and exists (select 1 from plan_notices n where n.subscription_id = s.id and n.kind = 'exhausted'
      and starts_with(n.key, c.id || '@') and n.created_at > now() - make_interval(secs => c.seconds)))
  on conflict do nothing`

type Pooled = Pick<Services, 'database'>

/** Finds what time and use have brought. Processes that look at once find it once. */
const findEvents = ({ database }: Pooled): Promise<void> =>
  inTransaction(database.pool, async (client) => {
    await client.query("select pg_advisory_xact_lock(hashtextextended('plan notices', 191))")
    for (const sql of [endingSql, endedSql, exhaustedSql]) await client.query(sql)
  })

type Due = {
  id: number
  kind: PlanNoticeKind
  amount: string | null
  turns: string
  from: string
  until: string
  attempts: number
  name: string
  balance_pays: boolean
  period: 'rolling' | 'day' | 'week' | 'month' | null
  seconds: number | null
  zone: string | null
  email: string
  language: Language | ''
  setting: UserSetting | null
  isThere: boolean
}

/** `2026-11-23 08:00 UTC`: mails have no zone of their own. */
const shownTime = (column: string): string =>
  `coalesce(to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), '')`

const mostAttempts = 5

/**
 * Whoever moves it on hands it over, and nobody else does for ten minutes; then it is due again, unless it was handed over. A process
 * that dies between handing over and writing that down notifies somebody twice, rather than nobody.
 */
const claimSql = `
  with due as (
    select n.id from plan_notices n where n.sent_at is null and n.due_at <= now() and n.attempts < ${mostAttempts}
    order by n.due_at limit $1 for update skip locked
  ), claimed as (
    update plan_notices n set due_at = now() + interval '10 minutes', attempts = n.attempts + 1 from due where n.id = due.id returning n.*
  )
  select n.id, n.kind, n.amount, n.attempts, s.name, s.balance_pays, ${shownTime('n.turns_at')} as turns,
    ${shownTime('s.starts_at')} as "from", ${shownTime('s.ends_at')} as until, c.period, c.seconds, c.zone,
    u.email, u.language, u.setting, u.deleted_at is null and u.status = ${userStatus.active} as "isThere"
  from claimed n join subscriptions s on s.id = n.subscription_id join users u on u.id = s.user_id
    left join spend_caps c on c.scope = 'subscription' and c.subject_id = s.id and n.kind = 'exhausted'
      and c.id::text = split_part(n.key, '@', 1)
  order by n.id`

const atOnce = 20

export type PlanNoticeDeps = NoticeDeps & Pick<Services, 'environment'>

/** Finds what users are to be notified of about their plans, and notifies them. Resolves with how many were. */
export async function sendPlanNotices(deps: PlanNoticeDeps, signal: AbortSignal): Promise<number> {
  await findEvents(deps)
  let sent = 0
  while (!signal.aborted) {
    const { rows } = await deps.database.pool.query<Due>(claimSql, [atOnce])
    const outcomes = await Promise.all(rows.map((due) => send(deps, due)))
    sent += outcomes.filter(Boolean).length
    if (rows.length < atOnce) break
  }
  return sent
}

async function send(deps: PlanNoticeDeps, due: Due): Promise<boolean> {
  try {
    const wasSent =
      due.isThere && (await deliver(deps, due, { zh: noticeIn('zh', deps, due), en: noticeIn('en', deps, due) }))
    await deps.database.pool.query('update plan_notices set sent_at = now() where id = $1', [due.id])
    return wasSent
  } catch (error) {
    deps.log.warn({ err: error, notice: due.id, attempt: due.attempts }, 'a user could not be notified of a plan')
    return false
  }
}

function noticeIn(language: Language, deps: PlanNoticeDeps, due: Due): Notice {
  const { title, line } = planWords[language][due.kind]
  const window = due.period && windowWords(language, { period: due.period, seconds: due.seconds ?? 0 })
  const text = line({
    plan: due.name,
    from: due.from,
    until: due.until,
    window: window ?? '',
    turns: due.turns,
    amount: due.amount === null || Number(due.amount) === 0 ? '' : shownQuota(deps, Number(due.amount)),
    balancePays: due.balance_pays,
  })
  const link = `${publicAddress(deps)}/app/wallet`
  return {
    type: `plan_${due.kind}`,
    title,
    content: text,
    values: [],
    lines: [text, planLink[language]],
    link,
  }
}
