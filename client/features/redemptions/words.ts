import { redemptionStatus } from '#core/statuses.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import type { Tone } from '../../components/status.tsx'
import type { PlainText } from '../../i18n/t.ts'
import { text } from '../../i18n/t.ts'

export type Redemption = RouterOutputs['admin']['redemptions']['list']['items'][number]

type State = { tone: Tone; words: PlainText }

const states: Record<number, State> = {
  [redemptionStatus.unused]: { tone: 'good', words: text('未使用') },
  [redemptionStatus.disabled]: { tone: 'neutral', words: text('已禁用') },
  [redemptionStatus.used]: { tone: 'accent', words: text('已使用') },
}

const unknown: State = { tone: 'neutral', words: text('未知状态') }

const usedUp: State = { tone: 'accent', words: text('已用完') }
const expired: State = { tone: 'warning', words: text('已过期') }

/** Of a code that nobody can use any more the table still says that it is unused. */
export function stateOf(redemption: Redemption, now: Date): State {
  const { status, validUntil } = redemption
  if (status !== redemptionStatus.unused) return states[status] ?? unknown
  if (isUsedUp(redemption)) return usedUp
  return validUntil !== null && validUntil <= now ? expired : (states[status] ?? unknown)
}

/** A gift code that everybody it was for has used. */
export const isUsedUp = ({ isGift, maxUses, usedCount }: Redemption): boolean =>
  isGift && maxUses !== -1 && usedCount >= maxUses
