import { DomainError } from '#core/errors.ts'
import type { Page } from '#core/paging.ts'
import { recordAct } from '#features/audit/service.ts'
import type { UserDeps } from '#features/deps.ts'
import { Note } from './entity.ts'
import type { CreateNote } from './schema.ts'
import { type NoteView, toNoteView } from './view.ts'

type Deps = Pick<UserDeps, 'em' | 'actor' | 'client'>

export async function listNotes(
  { em, actor }: Deps,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<Page<NoteView>> {
  const [rows, total] = await em.findAndCount(
    Note,
    { userId: actor.id },
    { orderBy: { id: 'desc' }, limit: pageSize, offset: (page - 1) * pageSize },
  )
  return { items: rows.map(toNoteView), total, page, pageSize }
}

export async function createNote({ em, actor }: Deps, input: CreateNote): Promise<NoteView> {
  const note = em.create(Note, { userId: actor.id, content: input.content })
  await em.flush()
  return toNoteView(note)
}

/** What is not one's own is not found: nobody learns that it is there. */
export async function removeNote(deps: Deps, { id }: { id: number }): Promise<void> {
  await deps.em.transactional(async (em) => {
    const note = await em.findOne(Note, { id, userId: deps.actor.id })
    if (!note) throw new DomainError('message.not_found')
    em.remove(note)
    await recordAct({ ...deps, em }, { action: 'notes.remove', targetType: 'note', targetId: id })
  })
}
