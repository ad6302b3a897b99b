import { router, userProcedure } from '#features/procedures.ts'
import { getWallet } from './service.ts'

export const walletUserRouter = router({
  get: userProcedure.query(({ ctx }) => getWallet(ctx)),
})
