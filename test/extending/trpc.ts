import { createTRPCReact } from '@trpc/react-query'
import { router } from '#features/procedures.ts'
import { notesUserRouter } from './router.ts'

/** In the product these are `appRouter` and `client/lib/trpc.ts`, which know every feature. */
export const exampleRouter = router({ user: router({ notes: notesUserRouter }) })

export const trpc = createTRPCReact<typeof exampleRouter>()
