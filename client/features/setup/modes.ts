/** How a site is used: for customers who pay, by its owner alone, or to be looked at. */
export const modes = ['external', 'self', 'demo'] as const

export const usualMode: (typeof modes)[number] = 'external'

/** So long the founder sees that it went well. */
export const reloadMilliseconds = 1500
