/** `zfb` and `wx` are epay's two ways, as clients call them. */
export const payMethods = ['zfb', 'wx', 'stripe'] as const
export type PayMethod = (typeof payMethods)[number]
