/** How often the inbox is asked what has come. */
export const unreadEveryMs = 30_000

/** As many unread messages as a badge has room for. */
export const badgeText = (count: number): string => (count > 99 ? '99+' : String(count))
