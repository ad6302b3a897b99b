import type { Request } from 'express'

/** Names under which clients send the user id; the last is our own. */
const userIdHeaders = ['veloera-user', 'new-api-user', 'x-user-id'] as const

/** The first that is not empty. */
export const userIdHeaderOf = (req: Request): string | undefined =>
  userIdHeaders.map((name) => req.get(name)).find((value) => value)
