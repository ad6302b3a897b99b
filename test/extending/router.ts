import { router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'

/** No process caches notes, so nobody has to be notified of a change. */
const owner = userProcedure.meta({ barrier: 'none' })

export const notesUserRouter = router({
  list: owner.input(schema.listNotes).query(({ ctx, input }) => service.listNotes(ctx, input)),
  create: owner.input(schema.createNote).mutation(({ ctx, input }) => service.createNote(ctx, input)),
  remove: owner.input(schema.byNoteId).mutation(({ ctx, input }) => service.removeNote(ctx, input)),
})
