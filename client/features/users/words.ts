import { roles } from '#core/roles.ts'
import { userStatus } from '#core/statuses.ts'
import type { Tone } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import type { RouterOutputs } from '#server/app-router.ts'

export type User = RouterOutputs['admin']['users']['update']

export const isGone = (user: User): boolean => user.deletedAt !== null

export function roleText(role: number): string {
  if (role === roles.user) return t('普通用户')
  if (role === roles.admin) return t('管理员')
  return role === roles.root ? t('超级管理员') : t('未知身份')
}

export function statusOf(user: User): { tone: Tone; words: string } {
  if (isGone(user)) return { tone: 'neutral', words: t('已注销') }
  if (user.status === userStatus.active) return { tone: 'good', words: t('已激活') }
  if (user.status === userStatus.banned) return { tone: 'bad', words: t('已封禁') }
  return { tone: 'warning', words: t('未知状态') }
}

/** The accounts elsewhere that are linked to one here, each with its name there; empty: none. */
export const linkedAccounts = (
  user: Pick<User, 'email' | 'githubId' | 'oidcId' | 'wechatId' | 'telegramId' | 'linuxDoId'>,
): [string, string][] => [
  [t('邮箱'), user.email],
  ['GitHub', user.githubId],
  ['OIDC', user.oidcId],
  [t('微信'), user.wechatId],
  ['Telegram', user.telegramId],
  ['Linux DO', user.linuxDoId],
]
