import type { SeedContext } from './seed-context.ts'
import { daysBefore } from './random.ts'
import type { Person } from './people.ts'

const messages = [
  {
    title: '欢迎使用',
    content: '欢迎！在 **令牌** 页面创建一个令牌，然后把客户端的地址改成本站即可。\n\n```\nhttps://<本站>/v1\n```',
    daysAgo: 28,
    read: true,
  },
  {
    title: '新模型上线',
    content: '`gpt-5`、`claude-sonnet-4-5-20250929` 与 `gemini-2.5-pro` 已经可用，价格见 **模型** 页面。',
    daysAgo: 9,
    read: true,
  },
  {
    title: '周末维护通知',
    content: '本周六 02:00–03:00（UTC+8）维护数据库，期间请求可能变慢。\n\n- 正在进行的对话不会中断\n- 扣费不受影响',
    daysAgo: 1,
    read: false,
  },
]

/** Messages to everybody; the last one is unread. */
export async function seedMessages({ db, now }: SeedContext, people: Person[]): Promise<void> {
  const author = people.find((person) => person.username === 'operator')?.id ?? 0
  for (const { title, content, daysAgo, read } of messages) {
    const sentAt = daysBefore(now, daysAgo)
    await db.query(
      `with sent as (insert into messages (title, content, author_id, created_at, updated_at) values ($1, $2, $3, $4, $4) returning id)
       insert into message_recipients (message_id, user_id, read_at)
       select sent.id, u.id, case when $5 then $4::timestamptz + interval '3 hours' end from sent, unnest($6::int[]) u(id)`,
      [title, content, author, sentAt, read, people.map(({ id }) => id)],
    )
  }
}
