import { router, userProcedure } from '#features/procedures.ts'
import { bySessionId } from './schema.ts'
import * as service from './service.ts'

/** Sessions are read anew with every request. */
const own = userProcedure.meta({ barrier: 'none' })

export const sessionsUserRouter = router({
  list: own.query(({ ctx }) => service.listSessions(ctx)),
  revoke: own.input(bySessionId).mutation(({ ctx, input }) => service.revokeSession(ctx, input)),
  revokeOthers: own.mutation(({ ctx }) => service.revokeOtherSessions(ctx)),
})
