import { DomainError } from '#core/errors.ts'
import { id, ids, instant, pageQuery, text } from '#rest/read.ts'
import { asFlag, asInteger, asListOf, asObject, asPage, asText, asTime, noData, sameNumber } from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { messagesAdminRouter, messagesUserRouter } from './router.ts'
import type { MessageFormat } from './schema.ts'
import type { AdminView, InboxView, RecipientView } from './view.ts'

type Api = {
  user: { messages: CallerOf<typeof messagesUserRouter> }
  admin: { messages: CallerOf<typeof messagesAdminRouter> }
}

const bind = binder<Api>()

const toInboxMessage = asObject<InboxView>({
  id: asInteger('id'),
  title: asText('title'),
  content: asText('content'),
  format: asText('format'),
  created_at: asTime('createdAt'),
  read_at: asTime('readAt'),
  is_read: asFlag(({ readAt }) => readAt !== null),
})

const toAdminMessage = asObject<AdminView>({
  id: asInteger('id'),
  title: asText('title'),
  content: asText('content'),
  format: asText('format'),
  created_at: asTime('createdAt'),
  updated_at: asTime('updatedAt'),
  stats: asObject<AdminView>({ total_recipients: asInteger('totalRecipients'), read_count: asInteger('readCount') }),
})

const toRecipient = asObject<RecipientView>({
  user_id: asInteger('userId'),
  username: asText('username'),
  display_name: asText('displayName'),
  read_at: asTime('readAt'),
})

const pathId = ({ params }: RestRequest) => ({ id: id(params['id']) })

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
    reply: asPage(toInboxMessage),
  }),
  'PUT /api/user/messages/:id/read': bind((api) => api.user.messages.markRead, { input: pathId, reply: noData }),
  'GET /api/user/messages/unread_count': bind((api) => api.user.messages.unreadCount, {
    reply: asObject({ unread_count: sameNumber }),
  }),
  'GET /api/admin/messages': bind((api) => api.admin.messages.list, {
    input: pageQuery,
    reply: asPage(toAdminMessage),
  }),
  'GET /api/admin/messages/search': bind((api) => api.admin.messages.list, {
    input: (request) => ({
      ...pageQuery(request),
      keyword: request.query['keyword'] ?? '',
      start: dateOf(request.query['start_date'], false),
      end: dateOf(request.query['end_date'], true),
    }),
    reply: asPage(toAdminMessage),
  }),
  'GET /api/admin/messages/:id': bind((api) => api.admin.messages.get, { input: pathId, reply: toAdminMessage }),
  'GET /api/admin/messages/:id/recipients': bind((api) => api.admin.messages.allRecipients, {
    input: pathId,
    reply: asListOf(toRecipient),
  }),
  'POST /api/admin/messages': bind((api) => api.admin.messages.create, {
    input: (request) => ({ ...textOf(request), recipients: { userIds: ids(request.body['user_ids']) } }),
    reply: toAdminMessage,
  }),
  'PUT /api/admin/messages/:id': bind((api) => api.admin.messages.update, {
    input: (request) => ({ ...pathId(request), ...textOf(request) }),
    reply: noData,
  }),
  'DELETE /api/admin/messages/:id': bind((api) => api.admin.messages.remove, { input: pathId, reply: noData }),
}
