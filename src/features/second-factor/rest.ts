import { text } from '#rest/read.ts'
import { binder, type CallerOf, noData, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { secondFactorUserRouter } from './router.ts'

type Api = { user: { secondFactor: CallerOf<typeof secondFactorUserRouter> } }

const bind = binder<Api>()

const byCode = ({ body }: RestRequest) => ({ code: text(body['code']) ?? '' })

const toRestCodes = ({ recoveryCodes }: { recoveryCodes: string[] | null }) => ({ backup_codes: recoveryCodes ?? [] })

/** The second step of the login stands with the users, whose documented form it answers in. */
export const secondFactorRoutes: RouteTable<Api> = {
  'GET /api/user/2fa/status': bind((api) => api.user.secondFactor.get, {
    reply: ({ authenticator, passkeys, recoveryCodes }) => ({
      enabled: authenticator || passkeys > 0,
      totp_enabled: authenticator,
      passkey_count: passkeys,
      backup_codes_remaining: recoveryCodes,
    }),
  }),
  'POST /api/user/2fa/setup': bind((api) => api.user.secondFactor.setUpAuthenticator, {
    reply: ({ secret, uri }) => ({ secret, qr_code_data: uri }),
  }),
  'POST /api/user/2fa/enable': bind((api) => api.user.secondFactor.enableAuthenticator, {
    input: byCode,
    reply: toRestCodes,
    message: '两步验证已启用',
  }),
  'POST /api/user/2fa/disable': bind((api) => api.user.secondFactor.disableByCode, {
    input: byCode,
    reply: noData,
    message: '两步验证已停用',
  }),
  'POST /api/user/2fa/backup_codes': bind((api) => api.user.secondFactor.replaceRecoveryCodesByCode, {
    input: byCode,
    reply: toRestCodes,
  }),
  'POST /api/verify': bind((api) => api.user.secondFactor.verify, {
    input: byCode,
    reply: noData,
    message: '验证成功',
  }),
}
