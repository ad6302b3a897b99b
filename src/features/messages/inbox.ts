import { raw } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import type { Page } from '#core/paging.ts'
import { MessageRecipient } from '#db/entities/message-recipient.ts'
import type { UserDeps } from '../deps.ts'
import { readInTime } from '../logs/timed-query.ts'
import type { ListInbox } from './schema.ts'
import { type InboxRow, type InboxView, toInboxView } from './view.ts'

const columns = `m.id, m.title, m.content, m.format, m.created_at as "createdAt", r.read_at as "readAt"`
const source = 'from message_recipients r join messages m on m.id = r.message_id'

/** One's own messages, newest first. */
export async function listInbox({ database, actor }: UserDeps, input: ListInbox): Promise<Page<InboxView>> {
  const { page, pageSize } = input
  const { rows, total } = await readInTime(database.pool, async (query) => ({
    rows: await query<InboxRow>(
      `select ${columns} ${source} where r.user_id = $1 order by r.message_id desc limit $2 offset $3`,
      [actor.id, pageSize, (page - 1) * pageSize],
    ),
    total: await query<{ count: string }>('select count(*) from message_recipients where user_id = $1', [actor.id]),
  }))
  return { items: rows.map(toInboxView), total: Number(total[0]?.count ?? 0), page, pageSize }
}

/** @throws {DomainError} message.not_found */
export async function getMessage({ database, actor }: UserDeps, { id }: { id: number }): Promise<InboxView> {
  const [row] = await readInTime(database.pool, (query) =>
    query<InboxRow>(`select ${columns} ${source} where r.user_id = $1 and r.message_id = $2`, [actor.id, id]),
  )
  if (!row) throw new DomainError('message.not_found')
  return toInboxView(row)
}

/** The first time counts; somebody else's message is none. @throws {DomainError} message.not_found */
export async function markRead({ em, actor }: UserDeps, { id }: { id: number }): Promise<void> {
  const own = { messageId: id, userId: actor.id }
  const marked = await em.nativeUpdate(MessageRecipient, own, { readAt: raw('coalesce(read_at, now())') })
  if (marked === 0) throw new DomainError('message.not_found')
}

export async function markAllRead({ em, actor }: UserDeps): Promise<{ count: number }> {
  const count = await em.nativeUpdate(MessageRecipient, { userId: actor.id, readAt: null }, { readAt: raw('now()') })
  return { count }
}

export const countUnread = ({ em, actor }: UserDeps): Promise<number> =>
  em.count(MessageRecipient, { userId: actor.id, readAt: null })
