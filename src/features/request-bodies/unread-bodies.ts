import type { Request, Response } from 'express'
import type { BodyLimits } from './limits.ts'
import { watchPace } from './pace.ts'
import { hasBody } from './read-body.ts'

/**
 * Takes what is still sent after the answer to nowhere, for a connection that is closed at once could take the answer from its
 * sender. It ends when little comes, or when twice as much came as any body may have:
 * whoever sent a little too much reads why.
 */
export function endUnreadBody({ idleMs, largest }: BodyLimits, req: Request, res: Response): void {
  if (!hasBody(req)) return
  res.once('finish', () => {
    if (req.complete) return
    const cut = (): void => void req.socket.destroy()
    const stop = watchPace(req, idleMs, { waits: () => false, onSlow: cut, most: 2 * largest, onMost: cut })
    req.once('end', stop).once('close', stop).resume()
  })
}
