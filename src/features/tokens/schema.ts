import { z } from 'zod'
import { spendCaps } from '#core/limits/spend-cap.ts'
import { pageInput } from '#core/paging.ts'
import { refusal } from '#core/refusal.ts'
import { tokenStatus } from '#core/statuses.ts'

export const longestTokenName = 30
/** `-` and six characters, added to the names of tokens made together. */
export const suffixLength = 7
export const mostTokensAtOnce = 100

const tokenId = z.int(refusal('input.id_invalid')).min(1, refusal('input.id_invalid')).max(2_147_483_647)

const quota = z
  .int(refusal('token.quota_invalid'))
  .min(0, refusal('token.quota_invalid'))
  .max(1e15, refusal('token.quota_invalid'))

const largestInteger = 2_147_483_647

export const addressOrRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])

/** Entries of an address list, however they are separated. */
export const splitEntries = (list: string): string[] => list.split(/[\s,]+/).filter((entry) => entry !== '')

const names = (list: string): string[] => [
  ...new Set(
    list
      .split(/[\n,]/)
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
]

/** Absent: they stay as they are. */
const caps = spendCaps.optional()

const fields = {
  name: z
    .string()
    .trim()
    .min(1, refusal('token.name_required'))
    .max(longestTokenName, refusal('token.name_too_long'))
    .regex(/^\P{Cc}*$/u),
  /** Null: never. */
  expiresAt: z.date(refusal('token.expiry_invalid')).nullable().default(null),
  remainQuota: quota.default(0),
  unlimitedQuota: z.boolean().default(false),
  modelLimitsEnabled: z.boolean().default(false),
  modelLimits: z
    .array(
      z
        .string()
        .max(255)
        .regex(/^[^\0]*$/),
    )
    .max(2000)
    .default([])
    .transform((list) => names(list.join(','))),
  /** One address or range a line; none: from everywhere. */
  allowIps: z.string().max(20_000).default(''),
  /** Empty: the owner's group. */
  group: z.string().trim().max(64).default(''),
  rateLimitEnabled: z.boolean().default(false),
  /** Seconds. */
  rateLimitPeriod: z.int().min(1).max(largestInteger).default(60),
  rateLimitCount: z.int().min(0).max(largestInteger).default(1000),
  rateLimitSuccess: z.int().min(0).max(largestInteger).default(10),
}

/** A moment that has passed is refused as an expiry, except from documented clients, which may send any. */
const takesPastExpiry = z.boolean().default(false)

export const createToken = z.object({ ...fields, spendCaps: caps, takesPastExpiry })
export type CreateToken = z.infer<typeof createToken>

export const createTokens = z.object({
  ...fields,
  spendCaps: caps,
  count: z.int().min(1).max(mostTokensAtOnce).default(1),
})
export type CreateTokens = z.infer<typeof createTokens>

export const updateToken = z.object({
  ...fields,
  spendCaps: caps,
  id: tokenId,
  /** Absent: what is left stays, whatever calls have taken meanwhile. */
  remainQuota: quota.optional(),
  /** Never written here; "enabled" is refused where the token could not be enabled. */
  status: z.int().optional(),
  withKeys: z.boolean().default(false),
  takesPastExpiry,
})
export type UpdateToken = z.infer<typeof updateToken>

export const setTokenStatus = z.object({
  id: tokenId,
  status: z.union([z.literal(tokenStatus.enabled), z.literal(tokenStatus.disabled)]),
  withKeys: z.boolean().default(false),
})
export type SetTokenStatus = z.infer<typeof setTokenStatus>

export const byTokenId = z.object({ id: tokenId, withKeys: z.boolean().default(false) })

/** `withKeys` adds the complete keys to the owner's own list, as the documented list has them. */
export const listTokens = pageInput.extend({ withKeys: z.boolean().default(false) })
export type ListTokens = z.infer<typeof listTokens>

export const searchTokens = z.object({
  /** Part of the name. */
  keyword: z
    .string()
    .trim()
    .max(200)
    .regex(/^[^\0]*$/)
    .default(''),
  /** Part of the key, with or without `sk-`. */
  key: z.string().trim().max(200).default(''),
  withKeys: z.boolean().default(false),
})
export type SearchTokens = z.infer<typeof searchTokens>
