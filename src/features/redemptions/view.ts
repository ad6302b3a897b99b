import type { Redemption } from '#db/entities/redemption.ts'
import type { Secrets } from '../secrets/service.ts'

/** Of a text of one's own nothing is shown: the little that is left could be guessed. */
const mask = (key: string): string => (key.length < 24 ? '***' : `${key.slice(0, 3)}***${key.slice(-3)}`)

/** A code as administrators see it: its text is theirs to hand out, once they have proved who they are. */
export const toRedemptionView = (
  redemption: Redemption,
  secrets: Secrets,
  { showsKey, usedUsername = '' }: { showsKey: boolean; usedUsername?: string | undefined },
) => ({
  id: redemption.id,
  /** Who made it. */
  userId: redemption.userId,
  name: redemption.name,
  key: showsKey ? secrets.decrypt(redemption.keyEncrypted) : mask(secrets.decrypt(redemption.keyEncrypted)),
  /** The text is masked; whoever proves who they are has it by an export. */
  isKeyMasked: !showsKey,
  status: redemption.status,
  quota: redemption.quota,
  isGift: redemption.isGift,
  maxUses: redemption.maxUses,
  usedCount: redemption.usedCount,
  usedUserId: redemption.usedUserId,
  /** Empty where nobody has used it. */
  usedUsername,
  validFrom: redemption.validFrom ?? null,
  validUntil: redemption.validUntil ?? null,
  createdAt: redemption.createdAt,
  redeemedAt: redemption.redeemedAt ?? null,
})

export type RedemptionView = ReturnType<typeof toRedemptionView>

/** One's own use of a code. */
export type UseView = { redemptionId: number; name: string; quota: number; isGift: boolean; usedAt: Date }
