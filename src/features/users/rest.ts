import { boolean, integer, iso, number, pageQuery, pageReply, text } from '#rest/read.ts'
import { binder, type CallerOf, noData, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { ManageUser, Settings } from './schema.ts'
import type { AccountView, SettingsView, SignedInUser, SignIn, UserView } from './view.ts'
import type { authRouter } from '#features/auth/router.ts'
import type { identitiesRouter } from '#features/identities/router.ts'
import type { secondFactorPublicRouter } from '#features/second-factor/router.ts'
import type { accountUserRouter, usersAdminRouter } from './router.ts'

type Api = {
  auth: CallerOf<typeof authRouter> & CallerOf<typeof identitiesRouter>
  public: { secondFactor: CallerOf<typeof secondFactorPublicRouter> }
  user: { account: CallerOf<typeof accountUserRouter> }
  admin: { users: CallerOf<typeof usersAdminRouter> }
}

const bind = binder<Api>()

/** Every key of the documented user, as an empty account has it. */
const emptyUser = {
  id: 0,
  username: '',
  password: '',
  display_name: '',
  role: 0,
  status: 0,
  email: '',
  github_id: '',
  oidc_id: '',
  wechat_id: '',
  telegram_id: '',
  linux_do_id: '',
  verification_code: '',
  access_token: null,
  quota: 0,
  used_quota: 0,
  request_count: 0,
  group: '',
  aff_code: '',
  aff_count: 0,
  aff_quota: 0,
  aff_history_quota: 0,
  inviter_id: 0,
  DeletedAt: null,
  setting: '',
  last_check_in_time: null,
}

const toRestLoginUser = (user: SignedInUser) => ({
  ...emptyUser,
  id: user.id,
  username: user.username,
  display_name: user.displayName,
  role: user.role,
  status: user.status,
  group: user.group,
})

/** Whoever has a second factor is asked for it at `POST /api/user/login/2fa`. */
const toRestSignIn = (result: SignIn) => ('secondStep' in result ? { require_2fa: true } : toRestLoginUser(result))

const signInMessage = (result: SignIn) => ('secondStep' in result ? '请输入两步验证码' : '')

const toRestUser = (user: UserView | AccountView) => ({
  ...emptyUser,
  id: user.id,
  username: user.username,
  display_name: user.displayName,
  role: user.role,
  status: user.status,
  email: user.email,
  github_id: user.githubId,
  oidc_id: user.oidcId,
  wechat_id: user.wechatId,
  telegram_id: user.telegramId,
  linux_do_id: user.linuxDoId,
  quota: user.quota,
  used_quota: user.usedQuota,
  request_count: user.requestCount,
  group: user.group,
  aff_code: user.affCode,
  aff_count: user.affCount,
  aff_quota: user.affQuota,
  aff_history_quota: user.affHistoryQuota,
  inviter_id: user.inviterId,
  DeletedAt: iso(user.deletedAt),
  setting: user.settings ? JSON.stringify(toRestSetting(user.settings)) : '',
  last_check_in_time: iso(user.lastCheckInAt),
})

const toRestSetting = (settings: SettingsView & { webhookSecret?: string }) => ({
  notify_type: settings.notifyType,
  quota_warning_threshold: settings.quotaWarningThreshold,
  ...(settings.webhookUrl ? { webhook_url: settings.webhookUrl } : {}),
  ...(settings.webhookSecret ? { webhook_secret: settings.webhookSecret } : {}),
  ...(settings.notificationEmail ? { notification_email: settings.notificationEmail } : {}),
  accept_unset_model_ratio_model: settings.acceptUnsetModelRatioModel,
  show_ip_in_logs: settings.showIpInLogs,
})

const pathId = ({ params }: RestRequest) => ({ id: integer(params['id']) ?? 0 })

/** Every parameter that was sent: the signature is over all of them. */
const given = (query: RestRequest['query']): Record<string, string> =>
  Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** What comes back from a provider brings no header: the session alone says whether somebody binds. */
const bySession = { userId: 'none' } as const

const oauth = (provider: 'github' | 'oidc' | 'linuxdo') =>
  bind((api) => api.auth.oauth.finish, {
    input: ({ query }) => ({
      provider,
      state: query['state'] ?? '',
      code: query['code'] ?? '',
      issuer: query['iss'] ?? '',
      error: query['error'] ?? '',
      errorDescription: query['error_description'] ?? '',
    }),
    reply: (finished) => (finished.outcome === 'signed-in' ? toRestSignIn(finished.user) : undefined),
    // Clients compare this word.
    message: (finished) => (finished.outcome === 'bound' ? 'bind' : signInMessage(finished.user)),
    ...bySession,
  })

/** Blank is unchanged. */
const filled = (value: unknown): string | undefined => text(value)?.trim() || undefined

export const userRoutes: RouteTable<Api> = {
  'POST /api/user/login': bind((api) => api.auth.login, {
    input: ({ body, query }) => ({
      username: text(body['username']) ?? '',
      password: text(body['password']) ?? '',
      turnstile: query['turnstile'] ?? '',
    }),
    reply: toRestSignIn,
    message: signInMessage,
  }),
  'POST /api/user/login/2fa': bind((api) => api.public.secondFactor.finishByCode, {
    input: ({ body }) => ({ code: text(body['code']) ?? '' }),
    reply: toRestSignIn,
  }),
  'GET /api/oauth/github': oauth('github'),
  'GET /api/oauth/oidc': oauth('oidc'),
  'GET /api/oauth/linuxdo': oauth('linuxdo'),
  'GET /api/oauth/wechat': bind((api) => api.auth.wechat, {
    input: ({ query }) => ({ code: query['code'] ?? '' }),
    reply: toRestSignIn,
    message: signInMessage,
    ...bySession,
  }),
  'GET /api/oauth/telegram/login': bind((api) => api.auth.telegram, {
    input: ({ query }) => ({ fields: given(query) }),
    reply: toRestSignIn,
    message: signInMessage,
    ...bySession,
  }),
  'GET /api/user/self': bind((api) => api.user.account.get, { reply: toRestUser }),
  'PUT /api/user/self': bind((api) => api.user.account.overwrite, {
    input: ({ body }) => ({
      username: filled(body['username']),
      displayName: filled(body['display_name']),
      password: text(body['password']),
    }),
    reply: noData,
  }),
  'DELETE /api/user/self': bind((api) => api.user.account.removeUnasked, { reply: noData }),
  'GET /api/user/token': bind((api) => api.user.account.createAccessToken),
  'GET /api/user/aff': bind((api) => api.user.account.inviteCode),
  'POST /api/user/aff_transfer': bind((api) => api.user.account.transferRewards, {
    input: ({ body }) => ({ quota: number(body['quota']) ?? 0 }),
    reply: noData,
    message: '划转成功',
  }),
  'GET /api/user/check_in_status': bind((api) => api.user.account.checkInStatus, {
    reply: ({ canCheckIn }) => ({ can_check_in: canCheckIn }),
  }),
  'POST /api/user/check_in': bind((api) => api.user.account.checkIn, {
    input: ({ query }) => ({ turnstile: query['turnstile'] ?? '' }),
    message: '签到成功',
  }),
  'PUT /api/user/setting': bind((api) => api.user.account.updateSettings, {
    input: ({ body }) => ({
      notifyType: text(body['notify_type']) as Settings['notifyType'],
      quotaWarningThreshold: number(body['quota_warning_threshold']) ?? 0,
      webhookUrl: text(body['webhook_url']) ?? '',
      webhookSecret: text(body['webhook_secret']) ?? '',
      notificationEmail: text(body['notification_email']) ?? '',
      acceptUnsetModelRatioModel: boolean(body['accept_unset_model_ratio_model']) ?? false,
      showIpInLogs: boolean(body['show_ip_in_logs']) ?? false,
    }),
    reply: noData,
    message: '设置已更新',
  }),

  'GET /api/user/': bind((api) => api.admin.users.list, { input: pageQuery, reply: pageReply(toRestUser) }),
  'GET /api/user/search': bind((api) => api.admin.users.list, {
    input: (request) => ({
      ...pageQuery(request),
      keyword: request.query['keyword'] ?? '',
      group: request.query['group'] ?? '',
    }),
    reply: pageReply(toRestUser),
  }),
  'GET /api/user/:id': bind((api) => api.admin.users.get, { input: pathId, reply: toRestUser }),
  'POST /api/user/': bind((api) => api.admin.users.create, {
    input: ({ body }) => ({
      username: text(body['username']) ?? '',
      displayName: text(body['display_name']) ?? '',
      password: text(body['password']) ?? '',
      role: integer(body['role']),
    }),
    reply: noData,
  }),
  'PUT /api/user/': bind((api) => api.admin.users.update, {
    input: ({ body }) => ({
      id: integer(body['id']) ?? 0,
      username: text(body['username']),
      displayName: text(body['display_name']),
      password: text(body['password']),
      group: filled(body['group']),
      role: integer(body['role']),
      quota: number(body['quota']),
    }),
    reply: noData,
  }),
  'POST /api/user/manage': bind((api) => api.admin.users.manage, {
    input: ({ body }) => ({ id: integer(body['id']) ?? 0, action: text(body['action']) as ManageUser['action'] }),
    reply: ({ id, status, role }) => ({ ...emptyUser, id, status, role }),
  }),
  'DELETE /api/user/:id': bind((api) => api.admin.users.remove, { input: pathId, reply: noData }),
}
