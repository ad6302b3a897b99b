import { adminProcedure, publicProcedure, router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as manage from './service/manage.ts'
import { signatureOptions } from './service/passkey-signature.ts'
import * as passkeys from './service/passkeys.ts'
import * as signIn from './service/sign-in.ts'
import { confirmByPassword, verifyWithCode, verifyWithPasskey } from './service/verify.ts'

const open = publicProcedure.meta({ limit: 'critical', barrier: 'none', inDemo: true })

/** For whoever is not signed in yet: the second step, and passkeys that need no first. */
export const secondFactorPublicRouter = router({
  finishByCode: open.input(schema.byCode).mutation(({ ctx, input }) => signIn.finishWithCode(ctx, input)),
  finishOptions: open.mutation(({ ctx }) => signIn.secondStepPasskeyOptions(ctx)),
  finishByPasskey: open.input(schema.bySignature).mutation(({ ctx, input }) => signIn.finishWithPasskey(ctx, input)),
  passkeyOptions: open.mutation(({ ctx }) => signIn.passkeyLoginOptions(ctx)),
  loginByPasskey: open.input(schema.bySignature).mutation(({ ctx, input }) => signIn.loginWithPasskey(ctx, input)),
})

/** None of it is cached by any process. */
const own = userProcedure.meta({ barrier: 'none' })
const guarded = own.meta({ verification: 'recent' })
const adding = own.meta({ verification: 'owner' })

export const secondFactorUserRouter = router({
  get: own.query(({ ctx }) => manage.getStatus(ctx)),
  setUpAuthenticator: adding.mutation(({ ctx }) => manage.setUpAuthenticator(ctx)),
  enableAuthenticator: adding.input(schema.byCode).mutation(({ ctx, input }) => manage.enableAuthenticator(ctx, input)),
  disableAuthenticator: guarded.mutation(({ ctx }) => manage.disableAuthenticator(ctx)),
  replaceRecoveryCodes: guarded.mutation(({ ctx }) => manage.replaceRecoveryCodes(ctx)),
  confirmPassword: own.input(schema.byPassword).mutation(({ ctx, input }) => confirmByPassword(ctx, input)),
  verify: own.input(schema.byCode).mutation(({ ctx, input }) => verifyWithCode(ctx, input)),
  signatureOptions: own.mutation(({ ctx }) => signatureOptions(ctx, ctx.actor.id)),
  verifyWithPasskey: own.input(schema.bySignature).mutation(({ ctx, input }) => verifyWithPasskey(ctx, input)),
  passkeys: router({
    list: own.query(({ ctx }) => passkeys.listPasskeys(ctx)),
    options: adding.mutation(({ ctx }) => passkeys.registrationOptions(ctx)),
    add: adding.input(schema.addPasskey).mutation(({ ctx, input }) => passkeys.addPasskey(ctx, input)),
    rename: own.input(schema.renamePasskey).mutation(({ ctx, input }) => passkeys.renamePasskey(ctx, input)),
    remove: guarded.input(schema.byPasskeyId).mutation(({ ctx, input }) => passkeys.removePasskey(ctx, input)),
  }),
  /** As the documented paths do it: the code comes with the act. */
  disableByCode: own.input(schema.byCode).mutation(({ ctx, input }) => manage.disableByCode(ctx, input)),
  replaceRecoveryCodesByCode: own
    .input(schema.byCode)
    .mutation(({ ctx, input }) => manage.replaceRecoveryCodesByCode(ctx, input)),
})

export const secondFactorAdminRouter = router({
  get: adminProcedure.input(schema.ofUser).query(({ ctx, input }) => manage.getStatusOfUser(ctx, input)),
  reset: adminProcedure
    .meta({ barrier: 'none', verification: 'recent' })
    .input(schema.ofUser)
    .mutation(({ ctx, input }) => manage.resetOfUser(ctx, input)),
})
