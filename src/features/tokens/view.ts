import type { Token } from '#db/entities/token.ts'
import type { Secrets } from '../secrets/service.ts'

/** A token as its owner sees it; the key itself only where it is asked for. */
export const toTokenView = (token: Token) => ({
  id: token.id,
  userId: token.userId,
  name: token.name,
  keyMask: token.keyMask,
  status: token.status,
  remainQuota: token.remainQuota,
  usedQuota: token.usedQuota,
  unlimitedQuota: token.unlimitedQuota,
  expiresAt: token.expiresAt ?? null,
  modelLimitsEnabled: token.modelLimitsEnabled,
  modelLimits: token.modelLimits === '' ? [] : token.modelLimits.split(','),
  allowIps: token.allowIps,
  group: token.group,
  rateLimitEnabled: token.rateLimitEnabled,
  rateLimitPeriod: token.rateLimitPeriod,
  rateLimitCount: token.rateLimitCount,
  rateLimitSuccess: token.rateLimitSuccess,
  createdAt: token.createdAt,
  accessedAt: token.accessedAt,
})

export type TokenView = ReturnType<typeof toTokenView> & { key?: string }

/**
 * With what would be left without calls under way, which is what documented clients load and send back. The console, which does
 * not show it, gets what is left.
 */
export type OwnTokenView = TokenView & { remainQuotaWithHolds: number }

/** With the 48 characters, without `sk-`. */
export const toTokenViewWithKey = (token: Token, secrets: Secrets): TokenView & { key: string } => ({
  ...toTokenView(token),
  key: secrets.decrypt(token.keyEncrypted),
})
