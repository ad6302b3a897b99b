import { text } from '#rest/read.ts'
import { asFlag, asInteger, asList, asObject, asText, noData } from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { secondFactorUserRouter } from './router.ts'

type Api = { user: { secondFactor: CallerOf<typeof secondFactorUserRouter> } }

const bind = binder<Api>()

const byCode = ({ body }: RestRequest) => ({ code: text(body['code']) ?? '' })

const toRestCodes = asObject<{ recoveryCodes: string[] | null }>({
  backup_codes: asList(({ recoveryCodes }) => recoveryCodes ?? []),
})

/** The second step of the login stands with the users, whose documented form it answers in. */
export const secondFactorRoutes: RouteTable<Api> = {
  'GET /api/user/2fa/status': bind((api) => api.user.secondFactor.get, {
    reply: asObject<{ authenticator: boolean; passkeys: number; recoveryCodes: number }>({
      enabled: asFlag(({ authenticator, passkeys }) => authenticator || passkeys > 0),
      totp_enabled: asFlag('authenticator'),
      passkey_count: asInteger('passkeys'),
      backup_codes_remaining: asInteger('recoveryCodes'),
    }),
  }),
  'POST /api/user/2fa/setup': bind((api) => api.user.secondFactor.setUpAuthenticator, {
    reply: asObject<{ secret: string; uri: string }>({ secret: asText('secret'), qr_code_data: asText('uri') }),
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
