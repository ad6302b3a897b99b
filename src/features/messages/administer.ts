import { type EntityManager, type FilterQuery, LockMode, type QBFilterQuery, raw } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import type { Page } from '#core/paging.ts'
import { Message } from '#db/entities/message.ts'
import { MessageRecipient } from '#db/entities/message-recipient.ts'
import { User } from '#db/entities/user.ts'
import { changesOf, isChanged } from '../audit/changes.ts'
import { recordAct } from '../audit/service.ts'
import type { UserDeps } from '../deps.ts'
import { type Conditions, createConditions } from '../logs/conditions.ts'
import { refuseOvertaken } from '../overtaken.ts'
import { type Query, readInTime } from '../logs/timed-query.ts'
import { matching } from '../users/service/administer.ts'
import type { CreateMessage, ListMessages, ListRecipients, Recipients, UpdateMessage } from './schema.ts'
import type { AdminRow, AdminView, RecipientRow, RecipientView } from './view.ts'
import { toAdminView, toRecipientView } from './view.ts'

/** Whoever searches types plain text. */
const like = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

const columns = `m.id, m.title, m.content, m.format, m.created_at as "createdAt", m.updated_at as "updatedAt",
  m.author_id as "authorId", u.username as "authorName", s.total::int as total, s.read::int as read`
const source = `from messages m left join users u on u.id = m.author_id
  cross join lateral (select count(*) as total, count(r.read_at) as read from message_recipients r where r.message_id = m.id) s`

/** Newest first, each with how many have it and how many have read it. */
export async function listMessages({ database }: UserDeps, input: ListMessages): Promise<Page<AdminView>> {
  const { page, pageSize, keyword, start, end } = input
  const conditions = createConditions()
  if (keyword) conditions.add((value) => `(m.title ilike ${value} or m.content ilike ${value})`, like(keyword))
  if (start) conditions.add((value) => `m.created_at >= ${value}`, start)
  if (end) conditions.add((value) => `m.created_at <= ${value}`, end)
  const { rows, total } = await readInTime(database.pool, async (query) => ({
    rows: await query<AdminRow>(
      `select ${columns} ${source}${conditions.where()} order by m.id desc limit ${pageSize} offset ${(page - 1) * pageSize}`,
      conditions.values(),
    ),
    total: await countOf(query, 'messages m', conditions),
  }))
  return { items: rows.map(toAdminView), total, page, pageSize }
}

async function countOf(query: Query, from: string, conditions: Conditions): Promise<number> {
  const [row] = await query<{ count: string }>(`select count(*) from ${from}${conditions.where()}`, conditions.values())
  return Number(row?.count ?? 0)
}

/** @throws {DomainError} message.not_found */
export async function getMessage({ database }: UserDeps, { id }: { id: number }): Promise<AdminView> {
  const [row] = await readInTime(database.pool, (query) =>
    query<AdminRow>(`select ${columns} ${source} where m.id = $1`, [id]),
  )
  if (!row) throw new DomainError('message.not_found')
  return toAdminView(row)
}

const recipientColumns = `r.user_id as "userId", u.username, u.display_name as "displayName", r.read_at as "readAt"`
const recipientSource = 'message_recipients r left join users u on u.id = r.user_id'

/** Everybody whom a message went to. */
export async function listAllRecipients(deps: UserDeps, { id }: { id: number }): Promise<RecipientView[]> {
  await getMessage(deps, { id })
  const rows = await readInTime(deps.database.pool, (query) =>
    query<RecipientRow>(
      `select ${recipientColumns} from ${recipientSource} where r.message_id = $1 order by r.user_id`,
      [id],
    ),
  )
  return rows.map(toRecipientView)
}

/** A page of them: those who read it last come first. */
export async function listRecipients({ database }: UserDeps, input: ListRecipients): Promise<Page<RecipientView>> {
  const { page, pageSize, id, keyword, read } = input
  const conditions = createConditions()
  conditions.add((value) => `r.message_id = ${value}`, id)
  if (keyword) conditions.add((value) => `(u.username ilike ${value} or u.display_name ilike ${value})`, like(keyword))
  if (read !== 'all') conditions.add((value) => `(r.read_at is not null) = ${value}`, read === 'read')
  const { rows, total } = await readInTime(database.pool, async (query) => ({
    rows: await query<RecipientRow>(
      `select ${recipientColumns} from ${recipientSource}${conditions.where()}
       order by r.read_at desc nulls last, r.user_id limit ${pageSize} offset ${(page - 1) * pageSize}`,
      conditions.values(),
    ),
    total: await countOf(query, recipientSource, conditions),
  }))
  return { items: rows.map(toRecipientView), total, page, pageSize }
}

/**
 * One message to however many: its recipients are one statement. Numbers that are no living account's are left out.
 * @throws {DomainError} message.recipients_required
 */
export async function createMessage(deps: UserDeps, input: CreateMessage): Promise<AdminView> {
  const { title, content, format } = input
  const { id: authorId, username: authorName } = deps.actor
  return deps.em.transactional(async (em) => {
    const id = await em.insert(Message, { title, content, format, authorId })
    const recipients = await address(em, id, input.recipients)
    if (recipients === 0) throw new DomainError('message.recipients_required')
    const after = { title, format, recipients }
    await recordAct({ ...deps, em }, { action: 'messages.create', ...targetOf(id, title), after })
    const { createdAt, updatedAt } = await em.findOneOrFail(Message, { id }, { disableIdentityMap: true })
    const sent = { id, title, content, format, createdAt, updatedAt, authorId, authorName }
    return toAdminView({ ...sent, total: recipients, read: 0 })
  })
}

const targetOf = (id: number, title: string) => ({ targetType: 'message', targetId: id, targetName: title })

async function address(em: EntityManager, messageId: number, recipients: Recipients): Promise<number> {
  const found = em
    .createQueryBuilder(User, 'u')
    .select('id')
    .where(whoAre(recipients) as QBFilterQuery<User>)
  const added: { affectedRows: number } = await em
    .getConnection()
    .execute(
      `insert into message_recipients (message_id, user_id) select ?, id from (${found.getQuery()}) found`,
      [messageId, ...found.getParams()],
      'run',
      em.getTransactionContext(),
    )
  return added.affectedRows
}

/** A search finds whom the user list finds, since that is what its sender has seen. */
function whoAre(recipients: Recipients): FilterQuery<User> {
  if ('matching' in recipients) return matching({ ...recipients.matching, status: 'living', role: 0 })
  // As one text, which the database takes apart: a parameter for each would be too many.
  const ids = recipients.userIds.filter((id) => id > 0 && id <= 2_147_483_647).join(',')
  return { deletedAt: null, [raw(`"u"."id" in (select unnest(string_to_array(?, ','))::int)`, [ids])]: true }
}

/** Who has read it has read it. @throws {DomainError} message.not_found, input.changed_meanwhile */
export async function updateMessage(deps: UserDeps, input: UpdateMessage): Promise<AdminView> {
  const { id, title, content, format, expected } = input
  await deps.em.transactional(async (em) => {
    const message = await lockMessage(em, id)
    refuseOvertaken(message, input, expected)
    await em.nativeUpdate(Message, { id }, { title, content, format, updatedAt: deps.ambient.now() })
    const { title: oldTitle, content: oldContent, format: oldFormat } = message
    const changes = changesOf({ title: oldTitle, content: oldContent, format: oldFormat }, { title, content, format })
    if (isChanged(changes))
      await recordAct({ ...deps, em }, { action: 'messages.update', ...targetOf(id, title), ...changes })
  })
  return getMessage(deps, { id })
}

/** Out of every inbox too. @throws {DomainError} message.not_found */
export async function removeMessage(deps: UserDeps, { id }: { id: number }): Promise<void> {
  await deps.em.transactional(async (em) => {
    const { title, format } = await lockMessage(em, id)
    await em.nativeDelete(MessageRecipient, { messageId: id })
    await em.nativeDelete(Message, { id })
    await recordAct({ ...deps, em }, { action: 'messages.delete', ...targetOf(id, title), before: { title, format } })
  })
}

async function lockMessage(em: EntityManager, id: number): Promise<Message> {
  const message = await em.findOne(Message, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true })
  if (!message) throw new DomainError('message.not_found')
  return message
}
