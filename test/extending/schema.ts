import { z } from 'zod'
import { pageInput } from '#core/paging.ts'
import { refusal } from '#core/refusal.ts'

export const createNote = z.object({
  content: z.string().trim().min(1, refusal('message.content_required')).max(100),
})
export type CreateNote = z.infer<typeof createNote>

export const byNoteId = z.object({ id: z.int().min(1) })

export const listNotes = pageInput
