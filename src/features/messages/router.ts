import { adminProcedure, idempotent, router, userProcedure } from '#features/procedures.ts'
import * as administer from './administer.ts'
import * as inbox from './inbox.ts'
import * as schema from './schema.ts'

/** No process caches messages, so nobody has to be notified of a change. */
const reader = userProcedure.meta({ barrier: 'none' })
const sender = adminProcedure.meta({ barrier: 'none' })

export const messagesUserRouter = router({
  list: reader.input(schema.listInbox).query(({ ctx, input }) => inbox.listInbox(ctx, input)),
  get: reader.input(schema.byMessageId).query(({ ctx, input }) => inbox.getMessage(ctx, input)),
  unreadCount: reader.query(({ ctx }) => inbox.countUnread(ctx)),
  markRead: reader.input(schema.byMessageId).mutation(({ ctx, input }) => inbox.markRead(ctx, input)),
  markAllRead: reader.mutation(({ ctx }) => inbox.markAllRead(ctx)),
})

export const messagesAdminRouter = router({
  list: sender.input(schema.listMessages).query(({ ctx, input }) => administer.listMessages(ctx, input)),
  get: sender.input(schema.byMessageId).query(({ ctx, input }) => administer.getMessage(ctx, input)),
  recipients: sender.input(schema.listRecipients).query(({ ctx, input }) => administer.listRecipients(ctx, input)),
  allRecipients: sender.input(schema.byMessageId).query(({ ctx, input }) => administer.listAllRecipients(ctx, input)),
  create: sender
    .input(schema.createMessage)
    .use(idempotent)
    .mutation(({ ctx, input }) => administer.createMessage(ctx, input)),
  update: sender.input(schema.updateMessage).mutation(({ ctx, input }) => administer.updateMessage(ctx, input)),
  remove: sender.input(schema.byMessageId).mutation(({ ctx, input }) => administer.removeMessage(ctx, input)),
})
