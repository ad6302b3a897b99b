import { adminProcedure, router } from '#features/procedures.ts'
import { listAttentionOf } from './service.ts'

export const attentionAdminRouter = router({
  list: adminProcedure.query(({ ctx }) => listAttentionOf(ctx)),
})
