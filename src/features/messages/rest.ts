import { DomainError } from '#core/errors.ts'
import { instant, integer, integers, iso, pageQuery, pageReply, text } from '#rest/read.ts'
import { binder, type CallerOf, noData, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { messagesAdminRouter, messagesUserRouter } from './router.ts'
import type { MessageFormat } from './schema.ts'
import type { AdminView, InboxView, RecipientView } from './view.ts'

type Api = {
  user: { messages: CallerOf<typeof messagesUserRouter> }
  admin: { messages: CallerOf<typeof messagesAdminRouter> }
}

const bind = binder<Api>()

const toInboxMessage = (message: InboxView) => ({
  id: message.id,
  title: message.title,
  content: message.content,
  format: message.format,
  created_at: iso(message.createdAt),
  read_at: iso(message.readAt),
  is_read: message.readAt !== null,
})

const toAdminMessage = (message: AdminView) => ({
  id: message.id,
  title: message.title,
  content: message.content,
  format: message.format,
  created_at: iso(message.createdAt),
  updated_at: iso(message.updatedAt),
  stats: { total_recipients: message.totalRecipients, read_count: message.readCount },
})

const toRecipient = (recipient: RecipientView) => ({
  user_id: recipient.userId,
  username: recipient.username,
  display_name: recipient.displayName,
  read_at: iso(recipient.readAt),
})

const pathId = ({ params }: RestRequest) => ({ id: integer(params['id']) ?? 0 })

const textOf = ({ body }: RestRequest) => ({
  title: text(body['title']) ?? '',
  content: text(body['content']) ?? '',
  format: (text(body['format']) || 'markdown') as MessageFormat,
})

const dayMs = 86_400_000

/** An ISO date or time, or epoch seconds; a date alone means the whole of its day. */
function dateOf(value: string | undefined, isEnd: boolean): Date | undefined {
  if (value === undefined || /^(|null|undefined|NaN)$/.test(value)) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return instant(value)
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) throw new DomainError('input.invalid', { detail: value.slice(0, 40) })
  return isEnd && /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(date.getTime() + dayMs - 1) : date
}

export const messageRoutes: RouteTable<Api> = {
  'GET /api/user/messages': bind((api) => api.user.messages.list, {
    input: pageQuery,
    reply: pageReply(toInboxMessage),
  }),
  'PUT /api/user/messages/:id/read': bind((api) => api.user.messages.markRead, { input: pathId, reply: noData }),
  'GET /api/user/messages/unread_count': bind((api) => api.user.messages.unreadCount, {
    reply: (count) => ({ unread_count: count }),
  }),
  'GET /api/admin/messages': bind((api) => api.admin.messages.list, {
    input: pageQuery,
    reply: pageReply(toAdminMessage),
  }),
  'GET /api/admin/messages/search': bind((api) => api.admin.messages.list, {
    input: (request) => ({
      ...pageQuery(request),
      keyword: request.query['keyword'] ?? '',
      start: dateOf(request.query['start_date'], false),
      end: dateOf(request.query['end_date'], true),
    }),
    reply: pageReply(toAdminMessage),
  }),
  'GET /api/admin/messages/:id': bind((api) => api.admin.messages.get, { input: pathId, reply: toAdminMessage }),
  'GET /api/admin/messages/:id/recipients': bind((api) => api.admin.messages.allRecipients, {
    input: pathId,
    reply: (recipients) => recipients.map(toRecipient),
  }),
  'POST /api/admin/messages': bind((api) => api.admin.messages.create, {
    input: (request) => ({ ...textOf(request), recipients: { userIds: integers(request.body['user_ids']) } }),
    reply: toAdminMessage,
  }),
  'PUT /api/admin/messages/:id': bind((api) => api.admin.messages.update, {
    input: (request) => ({ ...pathId(request), ...textOf(request) }),
    reply: noData,
  }),
  'DELETE /api/admin/messages/:id': bind((api) => api.admin.messages.remove, { input: pathId, reply: noData }),
}
