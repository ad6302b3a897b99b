import type { Session } from '#db/entities/session.ts'

export type SessionView = ReturnType<typeof toSessionView>

/** A browser that is signed in; nothing of its cookie. */
export const toSessionView = (session: Session, currentHash: string | null) => ({
  id: session.publicId,
  isCurrent: session.idHash === currentHash,
  clientIp: session.clientIp,
  userAgent: session.userAgent,
  createdAt: session.createdAt,
  seenAt: session.seenAt,
})
