import { adminProcedure, router } from '#features/procedures.ts'
import { listAttention } from './service.ts'

export const attentionAdminRouter = router({
  list: adminProcedure.query(({ ctx }) => listAttention(ctx)),
})
