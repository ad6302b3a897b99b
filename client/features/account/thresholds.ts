/** Dollars. */
export const thresholdPresets = [0.2, 1, 5, 10] as const
