import { finished } from '#core/tasks/progress.ts'
import type { Services } from '#features/deps.ts'
import { clearLogs } from '#features/logs/clear.ts'
import { forgetExpiredConversations } from '#features/stored-responses/conversations.ts'
import { forgetExpiredResponses } from '#features/stored-responses/local-responses.ts'
import { forgetNoticeCounts } from '#features/notifications/service.ts'
import { removeInPortions } from './portions.ts'

type RetentionDeps = Pick<Services, 'database' | 'options' | 'ambient'>

const dayMs = 86_400_000

/**
 * What is of no more use, by table. Balances and what explains them (grants, holds, hourly sums, orders, codes) are never
 * among it.
 */
const expired = [
  { table: 'sessions', condition: 'expires_at < now()' },
  // Anybody begins sign-ins, and most are never gone on with.
  { table: 'oauth_states', condition: 'expires_at < now()' },
  { table: 'sign_in_challenges', condition: 'expires_at < now()' },
  { table: 'one_time_codes', condition: "expires_at < now() - interval '1 day'" },
  { table: 'idempotency_keys', condition: "created_at < now() - interval '1 day'" },
  // Their results are gone upstream by then.
  { table: 'message_batches', condition: "settled_at < now() - interval '30 days'" },
  { table: 'upstream_objects', condition: "created_at < now() - interval '30 days'" },
  {
    table: 'channel_probes',
    condition:
      "created_at < now() - interval '30 days' or not exists (select 1 from channels c where c.id = channel_id)",
  },
  { table: 'retired_token_keys', condition: 'works_until < now()' },
  {
    table: 'spend_caps',
    condition: `case scope when 'user' then not exists (select 1 from users u where u.id = subject_id)
      when 'token' then not exists (select 1 from tokens t where t.id = subject_id)
      else not exists (select 1 from subscriptions s where s.id = subject_id) end`,
  },
  // Long after the last task has ended that could still be refunded.
  { table: 'subscription_charges', condition: "created_at < now() - interval '90 days'" },
  // Of payments that are no orders here.
  { table: 'early_payment_events', condition: "created_at < now() - interval '90 days'" },
  { table: 'plan_notices', condition: "created_at < now() - interval '400 days'" },
  {
    table: 'channel_balances',
    condition: "read_at < now() - interval '90 days' or not exists (select 1 from channels c where c.id = channel_id)",
  },
  { table: 'channel_drifts', condition: 'not exists (select 1 from channels c where c.id = channel_id)' },
] as const

/** Removes what has expired, in portions, and logs older than root wants to keep. Returns how many rows were removed. */
export async function removeExpired(deps: RetentionDeps, signal: AbortSignal): Promise<{ rows: number; logs: number }> {
  let rows = await forgetNoticeCounts(deps)
  const storedDays = deps.options.get('global.stored_responses_days')
  rows += await forgetExpiredResponses(deps.database.pool, storedDays, signal)
  rows += await forgetExpiredConversations(deps.database.pool, storedDays, signal)
  const { rows: buckets } = await deps.database.pool.query<{ forgotten: number }>(
    'select ledger_forget_buckets() as forgotten',
  )
  rows += buckets[0]?.forgotten ?? 0
  for (const rowsOf of [...expired, ...oldTasks(deps), chargesWithoutTask])
    rows += await removeInPortions(deps.database.pool, rowsOf, signal)
  const logs = signal.aborted ? 0 : await removeOldLogs(deps, signal)
  return { rows: rows + logs, logs }
}

/** As long as a refund of theirs is explained. */
const leastTaskDays = 90

/** What users had drawn and composed is their history, and goes with the logs of it. */
function oldTasks({ options }: RetentionDeps) {
  const days = options.get('LogRetentionDays')
  if (days === 0) return []
  const condition = `progress = '${finished}' and submitted_at < now() - make_interval(days => $1)`
  const values = [Math.max(days, leastTaskDays)]
  return ['drawing_tasks', 'music_tasks'].map((table) => ({ table, condition, values }))
}

/** Those whose hold is open or was given back are still to be made. */
const chargesWithoutTask = {
  table: 'task_charges',
  condition: `not exists (select 1 from holds h where h.id = task_charges.request_id and h.status <> 'void')
    and case kind when 'drawing' then not exists (select 1 from drawing_tasks t where t.id = task_charges.task_id)
      else not exists (select 1 from music_tasks t where t.id = task_charges.task_id) end`,
}

async function removeOldLogs(deps: RetentionDeps, signal: AbortSignal): Promise<number> {
  const days = deps.options.get('LogRetentionDays')
  if (days === 0) return 0
  const before = new Date(deps.ambient.now().getTime() - days * dayMs)
  const { count } = await clearLogs(deps, { before }, { signal })
  return count
}
