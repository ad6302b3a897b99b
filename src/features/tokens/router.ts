import { names } from '#core/input-names.ts'
import { idempotent, router, userProcedure } from '#features/procedures.ts'
import { rotateToken } from './rotate.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'

export const tokensUserRouter = router({
  list: userProcedure.input(schema.listTokens).query(({ ctx, input }) => service.listTokens(ctx, input)),
  /** Whoever may ask for parts of keys has the whole of them in some hundred questions. */
  search: userProcedure
    .meta({ verification: (input) => names(input, ['key']) })
    .input(schema.searchTokens)
    .query(({ ctx, input }) => service.searchTokens(ctx, input)),
  get: userProcedure.input(schema.byTokenId).query(({ ctx, input }) => service.getToken(ctx, input)),
  reveal: userProcedure
    .meta({ verification: 'recent' })
    .input(schema.byTokenId)
    .query(({ ctx, input }) => service.revealKey(ctx, input)),
  create: userProcedure
    .use(idempotent)
    .input(schema.createToken)
    .mutation(({ ctx, input }) => service.createToken(ctx, input)),
  createMany: userProcedure
    .use(idempotent)
    .input(schema.createTokens)
    .mutation(({ ctx, input }) => service.createTokens(ctx, input)),
  update: userProcedure.input(schema.updateToken).mutation(({ ctx, input }) => service.updateToken(ctx, input)),
  setStatus: userProcedure
    .input(schema.setTokenStatus)
    .mutation(({ ctx, input }) => service.setTokenStatus(ctx, input)),
  rotate: userProcedure
    .meta({ verification: 'recent' })
    .input(schema.rotateToken)
    .mutation(({ ctx, input }) => rotateToken(ctx, input)),
  remove: userProcedure.input(schema.byTokenId).mutation(({ ctx, input }) => service.removeToken(ctx, input)),
})
