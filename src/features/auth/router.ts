import { publicProcedure, router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import { login, logout, whoAmI } from './service/login.ts'
import { requestPasswordReset, resetPassword, sendVerificationCode } from './service/mails.ts'
import { bindEmail, register } from './service/register.ts'

const sensitive = publicProcedure.meta({ limit: 'critical' })
/** Sessions, codes and mails are nothing that processes cache. */
const uncached = sensitive.meta({ barrier: 'none' })

export const authRouter = router({
  whoami: publicProcedure.query(({ ctx }) => whoAmI(ctx)),
  login: uncached
    .meta({ inDemo: true })
    .input(schema.login)
    .mutation(({ ctx, input }) => login(ctx, input)),
  logout: publicProcedure.meta({ barrier: 'none', inDemo: true }).mutation(({ ctx }) => logout(ctx)),
  register: sensitive.input(schema.register).mutation(({ ctx, input }) => register(ctx, input)),
  sendVerificationCode: uncached
    .input(schema.requestMail)
    .mutation(({ ctx, input }) => sendVerificationCode(ctx, input)),
  requestPasswordReset: uncached
    .input(schema.requestMail)
    .mutation(({ ctx, input }) => requestPasswordReset(ctx, input)),
  resetPassword: sensitive.input(schema.resetPassword).mutation(({ ctx, input }) => resetPassword(ctx, input)),
  /** Whoever reads the mail resets the password. */
  bindEmail: userProcedure
    .meta({ limit: 'critical', verification: 'owner' })
    .input(schema.bindEmail)
    .mutation(({ ctx, input }) => bindEmail(ctx, input)),
})
