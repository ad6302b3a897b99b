import { givenFlag, givenNumber, id, number, pageQuery, text } from '#rest/read.ts'
import {
  always,
  asEither,
  asFlag,
  asInteger,
  asJsonText,
  asObject,
  asOptional,
  asPage,
  asText,
  asTime,
  noData,
  type ReplyFields,
  sameText,
} from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { ManageUser, Settings } from './schema.ts'
import type { AccountView, ManagedUserView, SettingsView, SignedInUser, SignIn, UserView } from './view.ts'
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

type Finished = Awaited<ReturnType<Api['auth']['oauth']['finish']>>

/** Every key of the documented user, as an empty account has it. */
const emptyUser: ReplyFields<unknown> = {
  id: always(0),
  username: always(''),
  password: always(''),
  display_name: always(''),
  role: always(0),
  status: always(0),
  email: always(''),
  github_id: always(''),
  oidc_id: always(''),
  wechat_id: always(''),
  telegram_id: always(''),
  linux_do_id: always(''),
  verification_code: always(''),
  access_token: always(null),
  quota: always(0),
  used_quota: always(0),
  request_count: always(0),
  group: always(''),
  aff_code: always(''),
  aff_count: always(0),
  aff_quota: always(0),
  aff_history_quota: always(0),
  inviter_id: always(0),
  DeletedAt: always(null),
  setting: always(''),
  last_check_in_time: always(null),
}

const toRestLoginUser = asObject<SignedInUser>({
  ...emptyUser,
  id: asInteger('id'),
  username: asText('username'),
  display_name: asText('displayName'),
  role: asInteger('role'),
  status: asInteger('status'),
  group: asText('group'),
})

/** Whoever has a second factor is asked for it at `POST /api/user/login/2fa`. */
const toRestSignIn = asEither(
  (result: SignIn) => 'secondStep' in result,
  asObject({ require_2fa: always(true) }),
  toRestLoginUser,
)

const signInMessage = (result: SignIn) => ('secondStep' in result ? '请输入两步验证码' : '')

const userFields: ReplyFields<UserView | AccountView> = {
  ...emptyUser,
  id: asInteger('id'),
  username: asText('username'),
  display_name: asText('displayName'),
  role: asInteger('role'),
  status: asInteger('status'),
  email: asText('email'),
  github_id: asText('githubId'),
  oidc_id: asText('oidcId'),
  wechat_id: asText('wechatId'),
  telegram_id: asText('telegramId'),
  linux_do_id: asText('linuxDoId'),
  quota: asInteger('quota'),
  used_quota: asInteger('usedQuota'),
  request_count: asInteger('requestCount'),
  group: asText('group'),
  aff_code: asText('affCode'),
  aff_count: asInteger('affCount'),
  aff_quota: asInteger('affQuota'),
  aff_history_quota: asInteger('affHistoryQuota'),
  inviter_id: asInteger('inviterId'),
  DeletedAt: asTime('deletedAt'),
  setting: asJsonText(({ settings }: UserView | AccountView) =>
    settings ? JSON.stringify(toRestSetting(settings)) : '',
  ),
  last_check_in_time: asTime('lastCheckInAt'),
}

const toRestAccount = asObject<AccountView>(userFields)
const toRestUser = asObject<ManagedUserView>({ ...userFields, quota: asInteger('quotaWithHolds') })

const toRestSetting = (settings: SettingsView & { webhookSecret?: string }) => ({
  notify_type: settings.notifyType,
  ...(settings.quotaWarningThreshold === null ? {} : { quota_warning_threshold: settings.quotaWarningThreshold }),
  ...(settings.webhookUrl ? { webhook_url: settings.webhookUrl } : {}),
  ...(settings.webhookSecret ? { webhook_secret: settings.webhookSecret } : {}),
  ...(settings.notificationEmail ? { notification_email: settings.notificationEmail } : {}),
  accept_unset_model_ratio_model: settings.acceptUnsetModelRatioModel,
  show_ip_in_logs: settings.showIpInLogs,
})

const pathId = ({ params }: RestRequest) => ({ id: id(params['id']) })

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
    reply: asOptional(toRestSignIn, (finished: Finished) =>
      finished.outcome === 'signed-in' ? finished.user : undefined,
    ),
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
  'GET /api/user/self': bind((api) => api.user.account.get, { reply: toRestAccount }),
  'PUT /api/user/self': bind((api) => api.user.account.overwrite, {
    input: ({ body }) => ({
      username: filled(body['username']),
      displayName: filled(body['display_name']),
      password: text(body['password']),
      currentPassword: text(body['original_password']) || undefined,
    }),
    reply: noData,
  }),
  'DELETE /api/user/self': bind((api) => api.user.account.removeUnasked, { reply: noData }),
  'GET /api/user/token': bind((api) => api.user.account.createAccessToken, { reply: sameText }),
  'GET /api/user/aff': bind((api) => api.user.account.inviteCode, { reply: sameText }),
  'POST /api/user/aff_transfer': bind((api) => api.user.account.transferRewards, {
    input: ({ body }) => ({ quota: givenNumber(body, 'quota') ?? 0 }),
    reply: noData,
    message: '划转成功',
  }),
  'GET /api/user/check_in_status': bind((api) => api.user.account.checkInStatus, {
    reply: asObject({ can_check_in: asFlag('canCheckIn') }),
  }),
  'POST /api/user/check_in': bind((api) => api.user.account.checkIn, {
    input: ({ query }) => ({ turnstile: query['turnstile'] ?? '' }),
    reply: asObject({ quota: asInteger('quota') }),
    message: '签到成功',
  }),
  'PUT /api/user/setting': bind((api) => api.user.account.updateSettings, {
    input: ({ body }) => ({
      notifyType: text(body['notify_type']) as Settings['notifyType'],
      // Left out as in what is read: none is chosen.
      quotaWarningThreshold: 'quota_warning_threshold' in body ? (number(body['quota_warning_threshold']) ?? 0) : null,
      webhookUrl: text(body['webhook_url']) ?? '',
      webhookSecret: text(body['webhook_secret']) ?? '',
      notificationEmail: text(body['notification_email']) ?? '',
      acceptUnsetModelRatioModel: givenFlag(body, 'accept_unset_model_ratio_model') ?? false,
      showIpInLogs: givenFlag(body, 'show_ip_in_logs') ?? false,
    }),
    reply: noData,
    message: '设置已更新',
  }),

  'GET /api/user/': bind((api) => api.admin.users.list, {
    input: (request) => ({ ...pageQuery(request), isDocumented: true }),
    reply: asPage(toRestUser),
  }),
  'GET /api/user/search': bind((api) => api.admin.users.list, {
    input: (request) => ({
      ...pageQuery(request),
      keyword: request.query['keyword'] ?? '',
      group: request.query['group'] ?? '',
      isDocumented: true,
    }),
    reply: asPage(toRestUser),
  }),
  'GET /api/user/:id': bind((api) => api.admin.users.get, { input: pathId, reply: toRestUser }),
  'POST /api/user/': bind((api) => api.admin.users.create, {
    input: ({ body }) => ({
      username: text(body['username']) ?? '',
      displayName: text(body['display_name']) ?? '',
      password: text(body['password']) ?? '',
      role: givenNumber(body, 'role'),
    }),
    reply: noData,
  }),
  'PUT /api/user/': bind((api) => api.admin.users.update, {
    input: ({ body }) => ({
      id: id(body['id']),
      username: text(body['username']),
      displayName: text(body['display_name']),
      password: text(body['password']),
      group: filled(body['group']),
      role: givenNumber(body, 'role'),
      quota: givenNumber(body, 'quota'),
    }),
    reply: noData,
  }),
  'POST /api/user/manage': bind((api) => api.admin.users.manage, {
    input: ({ body }) => ({ id: id(body['id']), action: text(body['action']) as ManageUser['action'] }),
    reply: asObject<{ id: number; status: number; role: number }>({
      ...emptyUser,
      id: asInteger('id'),
      status: asInteger('status'),
      role: asInteger('role'),
    }),
  }),
  'DELETE /api/user/:id': bind((api) => api.admin.users.remove, { input: pathId, reply: noData }),
}
