import type { Note } from './entity.ts'

/** What may leave: no entity does, and its owner need not be shown who they are. */
export const toNoteView = ({ id, content, createdAt }: Note) => ({ id, content, createdAt })
export type NoteView = ReturnType<typeof toNoteView>
