import type { Note } from './entity.ts'

/** The fields that leave the server; the owner's id is not needed by the owner. */
export const toNoteView = ({ id, content, createdAt }: Note) => ({ id, content, createdAt })
export type NoteView = ReturnType<typeof toNoteView>
