import type { Secrets } from '../secrets/service.ts'
import type { Session } from '#db/entities/session.ts'
import type { Token } from '#db/entities/token.ts'
import type { User, UserSetting } from '#db/entities/user.ts'

export type UserView = ReturnType<typeof toUserView>
/**
 * With the balance as it were without calls under way, which is what documented clients load and send back. Lists of the console,
 * which does not show it, have the balance as it is.
 */
export type ManagedUserView = UserView & { quotaWithHolds: number }
export type SettingsView = ReturnType<typeof toSettingsView>
export type SignedInUser = ReturnType<typeof toSignedInUser>

/** A user as administrators see one. */
export const toUserView = (user: User) => ({
  id: user.id,
  username: user.username,
  displayName: user.displayName,
  role: user.role,
  status: user.status,
  email: user.email,
  githubId: user.githubId ?? '',
  oidcId: user.oidcId ?? '',
  wechatId: user.wechatId ?? '',
  telegramId: user.telegramId ?? '',
  linuxDoId: user.linuxDoId ?? '',
  quota: user.quota,
  usedQuota: user.usedQuota,
  requestCount: user.requestCount,
  group: user.group,
  affCode: user.affCode ?? '',
  affCount: user.affCount,
  affQuota: user.affQuota,
  affHistoryQuota: user.affHistoryQuota,
  inviterId: user.inviterId,
  lastCheckInAt: user.lastCheckInAt ?? null,
  createdAt: user.createdAt,
  deletedAt: user.deletedAt ?? null,
  settings: user.setting ? toSettingsView(user.setting) : null,
})

/** An account with what hangs on it; keys by their masks. */
export const toUserOverview = (
  user: User,
  more: { tokens: Token[]; tokenCount: number; sessions: Session[]; inviter: User | null },
) => ({
  ...toUserView(user),
  inviter: more.inviter && { id: more.inviter.id, username: more.inviter.username },
  hasPassword: typeof user.passwordHash === 'string',
  tokenCount: more.tokenCount,
  tokens: more.tokens.map((token) => ({
    id: token.id,
    name: token.name,
    keyMask: token.keyMask,
    status: token.status,
    remainQuota: token.remainQuota,
    usedQuota: token.usedQuota,
    unlimitedQuota: token.unlimitedQuota,
    expiresAt: token.expiresAt ?? null,
    accessedAt: token.accessedAt ?? null,
  })),
  sessions: more.sessions.map(({ publicId, clientIp, userAgent, createdAt, seenAt }) => ({
    id: publicId,
    clientIp,
    userAgent,
    createdAt,
    seenAt,
  })),
})
export type UserOverview = ReturnType<typeof toUserOverview>

/** Without the webhook's secret. */
const toSettingsView = (setting: UserSetting) => ({
  notifyType: setting.notify_type,
  quotaWarningThreshold: setting.quota_warning_threshold ?? null,
  webhookUrl: setting.webhook_url ?? '',
  notificationEmail: setting.notification_email ?? '',
  acceptUnsetModelRatioModel: setting.accept_unset_model_ratio_model,
  showIpInLogs: setting.show_ip_in_logs,
})

/** One's own account: with the secret one typed oneself, since the documented settings form posts it back. */
export function toAccountView(
  user: User,
  { secrets, siteWarningThreshold }: { secrets: Secrets; siteWarningThreshold: number },
) {
  const { settings, ...rest } = toUserView(user)
  const encrypted = user.setting?.webhook_secret
  return {
    ...rest,
    settings: settings && { ...settings, webhookSecret: encrypted ? secrets.decrypt(encrypted) : '' },
    hasPassword: typeof user.passwordHash === 'string',
    mustChangePassword: user.mustChangePassword,
    /** What counts while the settings have no threshold. */
    siteWarningThreshold,
  }
}
export type AccountView = ReturnType<typeof toAccountView>

/** What the console keeps of the person signed in. */
export const toSignedInUser = (user: User) => ({
  id: user.id,
  username: user.username,
  displayName: user.displayName,
  role: user.role,
  status: user.status,
  group: user.group,
  mustChangePassword: user.mustChangePassword,
  language: user.language,
})

/** The first half of a sign-in is proved; the browser holds a session that is nobody's until the second is. */
export type SecondStep = { secondStep: { authenticator: boolean; passkey: boolean; recoveryCodes: number } }

/** Who is signed in now, or what is asked for next. */
export type SignIn = SignedInUser | SecondStep
