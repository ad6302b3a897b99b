import { z } from 'zod'
import { expectedFields } from '#core/expected.ts'
import { instant } from '#core/instant.ts'
import { pageInput, pageSizeUpTo } from '#core/paging.ts'
import { refusal } from '#core/refusal.ts'
import { redemptionStatus } from '#core/statuses.ts'

const longestName = 20
const longestKey = 32
const mostAtOnce = 100
export const mostExported = 10_000

const redemptionId = z.int(refusal('input.id_invalid')).min(1, refusal('input.id_invalid')).max(2_147_483_647)

const searchText = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^\0]*$/)

const name = z
  .string()
  .trim()
  .min(1, refusal('redemption.name_length'))
  .regex(/^\P{Cc}*$/u)
  // Characters as people count them.
  .refine((text) => [...text].length <= longestName, refusal('redemption.name_length'))

const quota = z
  .int(refusal('redemption.quota_invalid'))
  .min(1, refusal('redemption.quota_invalid'))
  .max(1e15, refusal('redemption.quota_invalid'))

const maxUses = z
  .int(refusal('redemption.max_uses_invalid'))
  .max(2_147_483_647, refusal('redemption.max_uses_invalid'))
  .refine((uses) => uses === -1 || uses > 0, refusal('redemption.max_uses_invalid'))

/** Null: open on that side. */
const codeTime = instant(refusal('redemption.time_invalid')).nullable()

type Window = { validFrom: Date | null; validUntil: Date | null }
export const isInOrder = ({ validFrom, validUntil }: Window) => !validFrom || !validUntil || validFrom < validUntil
const inOrder = { path: ['validUntil'], message: refusal('redemption.window_invalid') }

const created = z.object({
  name,
  quota,
  count: z
    .int(refusal('redemption.count_invalid'))
    .min(1, refusal('redemption.count_invalid'))
    .max(mostAtOnce, refusal('redemption.count_invalid'))
    .default(1),
  isGift: z.boolean().default(false),
  /** -1 without limit; counts for gift codes. */
  maxUses: maxUses.default(-1),
  validFrom: codeTime.default(null),
  validUntil: codeTime.default(null),
  /** The very text of one single code; empty: random ones. */
  key: z
    .string()
    .trim()
    .max(longestKey, refusal('redemption.key_too_long'))
    .regex(/^\P{Cc}*$/u)
    .default(''),
})

export const createRedemptions = created.refine(isInOrder, inOrder)
export type CreateRedemptions = z.infer<typeof createRedemptions>

/** As people fill it in: codes without a name are named by their amount. */
export const redemptionForm = created.extend({ name: z.union([z.literal(''), name]) }).refine(isInOrder, inOrder)

export const updateRedemption = z.object({
  id: redemptionId,
  name,
  quota,
  maxUses: maxUses.optional(),
  /** Absent: that side stays as it is. */
  validFrom: codeTime.optional(),
  validUntil: codeTime.optional(),
  expected: expectedFields,
})
export type UpdateRedemption = z.infer<typeof updateRedemption>

export const setRedemptionStatus = z.object({
  id: redemptionId,
  status: z.union([z.literal(redemptionStatus.unused), z.literal(redemptionStatus.disabled)]),
})
export type SetRedemptionStatus = z.infer<typeof setRedemptionStatus>

export const byRedemptionId = z.object({ id: redemptionId })

const filters = {
  /** Beginning of the name, or an id. */
  keyword: searchText.default(''),
  /** 0: all. */
  status: z.int().min(0).max(3).default(0),
  kind: z.enum(['', 'single', 'gift']).default(''),
}

/** Programs take a page that is not full for the last one. */
export const largestRedemptionPage = 1000

/** What the list may be ordered by, under the names of its columns. */
export const redemptionOrders = [
  'id',
  'name',
  'quota',
  'uses',
  'validFrom',
  'validUntil',
  'redeemed',
  'created',
] as const

export const listRedemptions = pageInput.extend({
  ...filters,
  sort: z.enum(redemptionOrders).default('id'),
  order: z.enum(['asc', 'desc']).default('desc'),
  pageSize: pageSizeUpTo(largestRedemptionPage),
})
export type ListRedemptions = z.infer<typeof listRedemptions>

/** What the list shows, or the chosen ones of it. */
export const exportRedemptions = z.object({ ...filters, ids: z.array(redemptionId).max(mostExported).default([]) })
export type ExportRedemptions = z.infer<typeof exportRedemptions>

export const byRedemptionName = z.object({
  name: z.string().trim().min(1, refusal('redemption.name_required')).max(200),
})

export const disableRedemptions = z.object({
  ids: z.array(redemptionId).min(1, refusal('input.selection_empty')).max(mostExported),
})

export const redeem = z.object({
  key: z
    .string()
    .trim()
    .min(1, refusal('redemption.key_required'))
    .max(200)
    .regex(/^[^\0]*$/),
  turnstile: z.string().max(4096).default(''),
})
export type Redeem = z.infer<typeof redeem>

export const listUses = pageInput
export type ListUses = z.infer<typeof listUses>
