import { integer, pageQuery, text } from '#rest/read.ts'
import { asInteger, asObject, asPage, asSeconds, asText, noData } from '#rest/reply.ts'
import { binder, type CallerOf, type RouteTable } from '#rest/route.ts'
import type { notesUserRouter } from './router.ts'
import type { NoteView } from './view.ts'

type Api = { user: { notes: CallerOf<typeof notesUserRouter> } }

const bind = binder<Api>()

const toNote = asObject<NoteView>({
  id: asInteger('id'),
  content: asText('content'),
  created_at: asSeconds('createdAt'),
})

export const noteRoutes: RouteTable<Api> = {
  'GET /api/user/notes': bind((api) => api.user.notes.list, { input: pageQuery, reply: asPage(toNote) }),
  'POST /api/user/notes': bind((api) => api.user.notes.create, {
    input: ({ body }) => ({ content: text(body['content']) ?? '' }),
    reply: toNote,
  }),
  'DELETE /api/user/notes/:id': bind((api) => api.user.notes.remove, {
    input: ({ params }) => ({ id: integer(params['id']) ?? 0 }),
    reply: noData,
  }),
}
