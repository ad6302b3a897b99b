/** Ranks of accounts; a higher number includes every right of the lower ones. */
export const roles = { guest: 0, user: 1, admin: 10, root: 100 } as const

export type Role = (typeof roles)[keyof typeof roles]

export const isRole = (value: number): value is Role => Object.values(roles).includes(value as Role)

/** A person may act on accounts below their own rank; root may act on any. */
export const mayActOn = (actor: number, target: number): boolean => actor === roles.root || actor > target
