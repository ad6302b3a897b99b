/** Numbers of the documented wire format; they are stored as they are. */
export const userStatus = { active: 1, banned: 2, other: 3 } as const
export const tokenStatus = { enabled: 1, disabled: 2, expired: 3, exhausted: 4 } as const
export const channelStatus = { unknown: 0, enabled: 1, disabled: 2, autoDisabled: 3 } as const
export const redemptionStatus = { unused: 1, disabled: 2, used: 3 } as const
export const logType = { unknown: 0, topUp: 1, consume: 2, manage: 3, system: 4, checkIn: 5, error: 6 } as const

export type LogType = (typeof logType)[keyof typeof logType]
