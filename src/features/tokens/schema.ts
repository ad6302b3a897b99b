import { z } from 'zod'
import { instant } from '#core/instant.ts'
import { spendCaps } from '#core/limits/spend-cap.ts'
import { expectedFields } from '#core/expected.ts'
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

const name = z
  .string()
  .trim()
  .max(longestTokenName, refusal('token.name_too_long'))
  .regex(/^\P{Cc}*$/u)

/** Absent: they stay as they are. */
const caps = spendCaps.optional()

/** Null: never. */
const expiry = instant(refusal('token.expiry_invalid')).nullable()

const fields = {
  name: name.min(1, refusal('token.name_required')),
  expiresAt: expiry.default(null),
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

/**
 * Documented clients may send an expiry that has passed, and a token without a name. What they read has its complete key, and its
 * quota with what open holds have set aside.
 */
const isDocumented = z.boolean().default(false)

const isNamed = (token: { name: string; isDocumented: boolean }): boolean => token.isDocumented || token.name !== ''
const unnamed = { error: refusal('token.name_required'), path: ['name'] }

export const createToken = z.object({ ...fields, name, spendCaps: caps, isDocumented }).refine(isNamed, unnamed)
export type CreateToken = z.infer<typeof createToken>

export const createTokens = z.object({
  ...fields,
  spendCaps: caps,
  count: z.int().min(1).max(mostTokensAtOnce).default(1),
})
export type CreateTokens = z.infer<typeof createTokens>

export const updateToken = z
  .object({
    ...fields,
    name,
    /** Absent: it stays, for a token that ends is not to go on for ever because of another change. */
    expiresAt: expiry.optional(),
    spendCaps: caps,
    id: tokenId,
    /** Absent: what is left stays, whatever calls have taken meanwhile. So it does where calls have taken more than there was. */
    remainQuota: z.union([quota, z.int().negative()], refusal('token.quota_invalid')).optional(),
    /** What was left when the new figure was chosen: the difference is booked. Absent: the new one counts what is set aside. */
    knownQuota: z.int().min(-1e15).max(1e15).optional(),
    /** Never written here; "enabled" is refused where the token could not be enabled. */
    status: z.int().optional(),
    isDocumented,
    expected: expectedFields,
  })
  .refine(isNamed, unnamed)
export type UpdateToken = z.infer<typeof updateToken>

export const setTokenStatus = z.object({
  id: tokenId,
  status: z.union([z.literal(tokenStatus.enabled), z.literal(tokenStatus.disabled)]),
  isDocumented,
})
export type SetTokenStatus = z.infer<typeof setTokenStatus>

/** So long a former key may go on working, in seconds. */
export const gracePeriods = [0, 3600, 86_400, 604_800] as const

export const rotateToken = z.object({
  id: tokenId,
  graceSeconds: z.union(gracePeriods.map((seconds) => z.literal(seconds))).default(0),
})
export type RotateToken = z.infer<typeof rotateToken>

export const byTokenId = z.object({ id: tokenId, isDocumented })

export const tokenSorts = ['name', 'spend', 'used', 'expires', 'created'] as const
const ordered = {
  /** Absent: the newest first. */
  sort: z.enum(tokenSorts).optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
}

export const listTokens = pageInput.extend({ ...ordered, isDocumented })
export type ListTokens = z.infer<typeof listTokens>

export const searchTokens = z.object({
  ...ordered,
  /** Part of the name. */
  keyword: z
    .string()
    .trim()
    .max(200)
    .regex(/^[^\0]*$/)
    .default(''),
  /** Part of the key, with or without `sk-`. */
  key: z.string().trim().max(200).default(''),
  isDocumented,
})
export type SearchTokens = z.infer<typeof searchTokens>
