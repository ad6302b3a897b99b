import type { Person } from './people.ts'
import { minutesBefore } from './random.ts'
import type { SeedContext } from './seed-context.ts'

type Entry = {
  by: string
  action: string
  target: [type: string, id: string, name: string]
  before?: object
  after?: object
  reason?: string
  hoursAgo: number
}

const entries: Entry[] = [
  {
    by: 'root',
    action: 'channels.create',
    target: ['channel', '1', 'OpenAI 主账号'],
    after: { type: 1, groups: ['default', 'vip', 'research'] },
    hoursAgo: 700,
  },
  {
    by: 'root',
    action: 'users.promote',
    target: ['user', '2', 'operator'],
    before: { role: 1 },
    after: { role: 10 },
    hoursAgo: 690,
  },
  {
    by: 'root',
    action: 'options.set',
    target: ['option', 'GroupRatio', 'GroupRatio'],
    before: { value: '{"default":1}' },
    after: { value: '{"default":1,"vip":0.8,"research":0.5}' },
    hoursAgo: 640,
  },
  {
    by: 'operator',
    action: 'redemptions.create',
    target: ['redemption', '', '开学活动'],
    after: { count: 5, quota: 2_500_000 },
    hoursAgo: 216,
  },
  {
    by: 'operator',
    action: 'users.disable',
    target: ['user', '11', 'spammer'],
    before: { status: 1 },
    after: { status: 2 },
    reason: '批量发送广告',
    hoursAgo: 190,
  },
  {
    by: '',
    action: 'channels.disable',
    target: ['channel', '7', '欠费账号'],
    before: { status: 1 },
    after: { status: 3 },
    reason: 'You exceeded your current quota',
    hoursAgo: 7,
  },
  {
    by: 'operator',
    action: 'plans.create',
    target: ['plan', '2', '专业版'],
    after: { price: 15_000_000, term: 'month', stock: 20 },
    hoursAgo: 330,
  },
  {
    by: 'operator',
    action: 'messages.create',
    target: ['message', '3', '周末维护通知'],
    after: { recipients: 11 },
    hoursAgo: 24,
  },
  { by: 'xiaochen', action: 'account.enable_totp', target: ['user', '3', 'xiaochen'], hoursAgo: 52 },
  { by: 'xiaochen', action: 'tokens.rotate', target: ['token', '4', '手机端'], hoursAgo: 30 },
]

/** Some of what people with rights have done, oldest first. */
export async function seedAudit({ db, now }: SeedContext, people: Person[]): Promise<void> {
  for (const { by, action, target, before, after, reason = '', hoursAgo } of entries.toSorted(
    (one, other) => other.hoursAgo - one.hoursAgo,
  )) {
    const actor = people.find(({ username }) => username === by)
    const [type, id, name] = target
    await db.query(
      `insert into audit_entries (actor_id, actor_name, action, target_type, target_id, target_name, before, after, reason, client_ip, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        actor?.id ?? 0,
        by,
        action,
        type,
        id,
        name,
        before ?? null,
        after ?? null,
        reason,
        by === '' ? '' : '203.0.113.24',
        minutesBefore(now, hoursAgo * 60),
      ],
    )
  }
}
