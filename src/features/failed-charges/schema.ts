import { z } from 'zod'

const byId = z.object({ id: z.string().min(1).max(128) })

export const byChargeId = byId
/** Without an amount as it was; 0 gives everything back. */
export const bookCharge = byId.extend({ quota: z.int().min(0).optional() })
export type BookCharge = z.infer<typeof bookCharge>
