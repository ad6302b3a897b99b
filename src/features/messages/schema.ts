import { z } from 'zod'
import { expectedFields } from '#core/expected.ts'
import { instant } from '#core/instant.ts'
import { pageInput } from '#core/paging.ts'
import { refusal } from '#core/refusal.ts'

const messageFormats = ['markdown', 'html', 'plain'] as const
export type MessageFormat = (typeof messageFormats)[number]

const messageId = z.int(refusal('input.id_invalid')).min(1, refusal('input.id_invalid')).max(2_147_483_647)

/** PostgreSQL's text has no NUL. */
const withoutNul = /^[^\0]*$/

const text = {
  title: z.string().trim().min(1, refusal('message.title_required')).max(200).regex(withoutNul),
  content: z
    .string()
    .max(200_000)
    .regex(withoutNul)
    .refine((content) => content.trim() !== '', refusal('message.content_required')),
  format: z.enum(messageFormats, refusal('message.format_invalid')),
}

const searchText = z.string().trim().max(200).regex(withoutNul)

/** Users by number, or everybody whom a search of the user list finds. */
export const recipients = z.union([
  z.object({ userIds: z.array(z.int()).max(100_000) }),
  z.object({ matching: z.object({ keyword: searchText.default(''), group: searchText.default('') }) }),
])
export type Recipients = z.infer<typeof recipients>

export const createMessage = z.object({ ...text, recipients })
export type CreateMessage = z.infer<typeof createMessage>

/** The console's form: whom it goes to is chosen beside it. */
export const messageText = z.object(text)

export const updateMessage = z.object({ id: messageId, ...text, expected: expectedFields })
export type UpdateMessage = z.infer<typeof updateMessage>

export const byMessageId = z.object({ id: messageId })

export const listInbox = pageInput
export type ListInbox = z.infer<typeof listInbox>

export const listMessages = pageInput
  .extend({
    /** Part of title or content. */
    keyword: searchText.default(''),
    /** Both included, both or none. */
    start: instant().optional(),
    end: instant().optional(),
  })
  .refine(({ start, end }) => (start === undefined) === (end === undefined), refusal('message.dates_incomplete'))
export type ListMessages = z.infer<typeof listMessages>

export const listRecipients = pageInput.extend({
  id: messageId,
  keyword: searchText.default(''),
  read: z.enum(['all', 'read', 'unread']).default('all'),
})
export type ListRecipients = z.infer<typeof listRecipients>
