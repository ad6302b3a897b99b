import { rootProcedure, router } from '#features/procedures.ts'
import * as service from './service.ts'

export const systemAdminRouter = router({
  state: rootProcedure.query(({ ctx }) => service.systemState(ctx)),
})
