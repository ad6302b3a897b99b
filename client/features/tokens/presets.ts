import { mostTokensAtOnce } from '#features/tokens/schema.ts'

/** Dollars. */
export const quotaPresets = [1, 10, 50, 100, 500, 1000] as const
export const countPresets = [10, 20, 30, mostTokensAtOnce] as const

const hour = 3_600_000
const day = 24 * hour

/** How long a token is to be valid, in milliseconds; beside them stands "never". */
export const validities = { hour, day, month: 30 * day } as const
