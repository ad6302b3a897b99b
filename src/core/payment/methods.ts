/** `zfb` and `wx` are epay's two ways, as clients call them. */
export const payMethods = ['zfb', 'wx', 'stripe'] as const
export type PayMethod = (typeof payMethods)[number]

/** What something costs by a method: `39.00`, with the currency of its gateway. */
export type MethodPrice = { method: PayMethod; money: string; currency: string }
