import type { Redemption } from '#db/entities/redemption.ts'
import type { Secrets } from '../secrets/service.ts'

/** A code as administrators see it, its text included: it is theirs to hand out. */
export const toRedemptionView = (redemption: Redemption, secrets: Secrets) => ({
  id: redemption.id,
  /** Who made it. */
  userId: redemption.userId,
  name: redemption.name,
  key: secrets.decrypt(redemption.keyEncrypted),
  status: redemption.status,
  quota: redemption.quota,
  isGift: redemption.isGift,
  maxUses: redemption.maxUses,
  usedCount: redemption.usedCount,
  usedUserId: redemption.usedUserId,
  validFrom: redemption.validFrom ?? null,
  validUntil: redemption.validUntil ?? null,
  createdAt: redemption.createdAt,
  redeemedAt: redemption.redeemedAt ?? null,
})

export type RedemptionView = ReturnType<typeof toRedemptionView>

/** One's own use of a code. */
export type UseView = { redemptionId: number; name: string; quota: number; isGift: boolean; usedAt: Date }
