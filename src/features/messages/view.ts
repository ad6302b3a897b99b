import { previewOf } from './view-preview.ts'
import type { MessageFormat } from './schema.ts'

/** A message as its recipient has it. */
export type InboxRow = {
  id: number
  title: string
  content: string
  format: string
  createdAt: Date
  readAt: Date | null
}

const formatOf = (text: string): MessageFormat => (text === 'html' || text === 'plain' ? text : 'markdown')

export const toInboxView = (row: InboxRow) => ({
  id: row.id,
  title: row.title,
  content: row.content,
  preview: previewOf(row.content, formatOf(row.format)),
  format: formatOf(row.format),
  createdAt: row.createdAt,
  readAt: row.readAt,
})
export type InboxView = ReturnType<typeof toInboxView>

/** A message as those who send it see it. */
export type AdminRow = Omit<InboxRow, 'readAt'> & {
  updatedAt: Date
  authorId: number
  authorName: string | null
  total: number
  read: number
}

export const toAdminView = (row: AdminRow) => ({
  id: row.id,
  title: row.title,
  content: row.content,
  preview: previewOf(row.content, formatOf(row.format)),
  format: formatOf(row.format),
  author: row.authorId === 0 ? null : { id: row.authorId, username: row.authorName ?? '' },
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  totalRecipients: row.total,
  readCount: row.read,
})
export type AdminView = ReturnType<typeof toAdminView>

export type RecipientRow = { userId: number; username: string | null; displayName: string | null; readAt: Date | null }

export const toRecipientView = (row: RecipientRow) => ({
  userId: row.userId,
  username: row.username ?? '',
  displayName: row.displayName ?? '',
  readAt: row.readAt,
})
export type RecipientView = ReturnType<typeof toRecipientView>
