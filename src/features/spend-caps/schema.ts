import { z } from 'zod'
import { expectedFields } from '#core/expected.ts'
import { instant } from '#core/instant.ts'
import { capAmount, spendCaps } from '#core/limits/spend-cap.ts'
import { refusal } from '#core/refusal.ts'

const id = z.int(refusal('input.id_invalid')).min(1, refusal('input.id_invalid')).max(2_147_483_647)

export const ofUser = z.object({ userId: id })
export const setOfUser = z.object({ userId: id, caps: spendCaps, expected: expectedFields })
export type SetOfUser = z.infer<typeof setOfUser>

/** For a while another amount; null ends it at once. */
export const raiseCap = z.object({ id, raise: z.object({ amount: capAmount, until: instant() }).nullable() })
export type RaiseCap = z.infer<typeof raiseCap>
