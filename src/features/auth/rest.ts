import { text } from '#rest/read.ts'
import { noData, sameText } from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { authRouter } from './router.ts'

type Api = { auth: CallerOf<typeof authRouter> }

const bind = binder<Api>()

const requestMail = ({ query }: RestRequest) => ({
  email: query['email'] ?? '',
  turnstile: query['turnstile'] ?? '',
})

/** The login itself stands with the users, whose documented form it answers in. */
export const authRoutes: RouteTable<Api> = {
  'GET /api/user/logout': bind((api) => api.auth.logout, { reply: noData }),
  'POST /api/user/register': bind((api) => api.auth.register, {
    input: ({ body, query }) => ({
      username: text(body['username']) ?? '',
      password: text(body['password']) ?? '',
      email: text(body['email']) ?? '',
      verificationCode: text(body['verification_code']) ?? '',
      affCode: text(body['aff_code']) ?? '',
      turnstile: query['turnstile'] ?? '',
    }),
    reply: noData,
  }),
  'GET /api/verification': bind((api) => api.auth.sendVerificationCode, { input: requestMail, reply: noData }),
  'GET /api/reset_password': bind((api) => api.auth.requestPasswordReset, { input: requestMail, reply: noData }),
  'POST /api/user/reset': bind((api) => api.auth.resetPassword, {
    input: ({ body }) => ({ email: text(body['email']) ?? '', token: text(body['token']) ?? '' }),
    reply: sameText,
  }),
  'GET /api/oauth/email/bind': bind((api) => api.auth.bindEmail, {
    input: ({ query }) => ({ email: query['email'] ?? '', code: query['code'] ?? '' }),
    reply: noData,
    userId: 'none',
  }),
}
