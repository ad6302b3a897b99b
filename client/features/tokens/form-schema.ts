import { refusal } from '#core/refusal.ts'
import { defaultQuotaPerUnit } from '#core/quota.ts'
import { addressOrRange, createTokens, splitEntries } from '#features/tokens/schema.ts'
import type { z } from 'zod'
import { refusalText } from '../../i18n/refusal-text.ts'
import { t } from '../../i18n/t.ts'
import type { Cap, Token } from './use-open-token.ts'

/** The server's rules, and those it can only tell by a refusal of the whole. An expiry that was stored may stay. */
export const tokenForm = (stored: Date | null) =>
  createTokens.superRefine((token, context) => {
    const { expiresAt } = token
    if (expiresAt !== null && expiresAt.getTime() !== stored?.getTime() && expiresAt.getTime() <= Date.now()) {
      context.addIssue({ code: 'custom', path: ['expiresAt'], message: refusal('token.expiry_past') })
    }
    const entry = splitEntries(token.allowIps).find((part) => !addressOrRange.safeParse(part).success)
    if (entry !== undefined) {
      const message = refusalText({ code: 'token.addresses_invalid', params: { entry } })
      context.addIssue({ code: 'custom', path: ['allowIps'], message })
    }
    if (token.modelLimitsEnabled && token.modelLimits.length === 0) {
      context.addIssue({ code: 'custom', path: ['modelLimits'], message: t('至少选择 {minimum} 项', { minimum: 1 }) })
    }
  })

export type TokenValues = Required<z.input<typeof createTokens>>

export const newToken: TokenValues = {
  name: '',
  count: 1,
  remainQuota: defaultQuotaPerUnit,
  unlimitedQuota: false,
  expiresAt: null,
  group: '',
  modelLimitsEnabled: false,
  modelLimits: [],
  allowIps: '',
  rateLimitEnabled: false,
  rateLimitPeriod: 60,
  rateLimitCount: 1000,
  rateLimitSuccess: 10,
  spendCaps: [],
}

/** A balance that open calls have taken below zero is shown as none. */
export const valuesOf = (token: Token, caps: readonly Cap[]): TokenValues => ({
  name: token.name,
  count: 1,
  remainQuota: Math.max(0, token.remainQuota),
  unlimitedQuota: token.unlimitedQuota,
  expiresAt: token.expiresAt,
  group: token.group,
  modelLimitsEnabled: token.modelLimitsEnabled,
  modelLimits: token.modelLimits,
  allowIps: token.allowIps,
  rateLimitEnabled: token.rateLimitEnabled,
  rateLimitPeriod: token.rateLimitPeriod,
  rateLimitCount: token.rateLimitCount,
  rateLimitSuccess: token.rateLimitSuccess,
  spendCaps: caps.map(({ period, seconds, zone, amount, models }) => ({ period, seconds, zone, amount, models })),
})
