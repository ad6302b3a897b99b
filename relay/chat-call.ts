import type { Request, Response } from 'express'
import { DomainError } from '#core/errors.ts'
import { attemptAll } from './attempt/attempts.ts'
import { forward } from './attempt/forward.ts'
import { openHold } from './billing/hold.ts'
import { admitChat } from './request/admit.ts'
import type { Call, ChatRoute, RelayServices } from './request/call.ts'
import { limit, type LimitedCall } from './request/limit.ts'
import { receive } from './request/receive.ts'
import { refuseExtensions, screen } from './request/screen.ts'
import { keepAlive } from './response/caller-stream.ts'
import { reportError, statusSent } from './response/report-error.ts'

/** One chat call from arrival to its last byte: every step in its order. */
export async function handleChat(
  services: RelayServices,
  route: ChatRoute,
  { req, res }: { req: Request; res: Response },
): Promise<void> {
  const incoming = receive(services, route.dialect, { req, res })
  let limited: LimitedCall | null = null
  let admitted: Call | null = null
  try {
    if (services.stopping()) throw new DomainError('relay.stopping')
    const caller = await route.identify(services, req)
    limited = await limit(services, caller, incoming)
    const call = await admitChat(services, { incoming, route, caller })
    admitted = call
    refuseExtensions(services, call)
    const screening = screen(services, call)
    if (screening) await screening
    const stopPings = keepAlive(services, call)
    const hold = openHold(services, call)
    try {
      await attemptAll(services, call, {
        hold,
        forward: (plan) => forward(services, call, { ...plan, held: hold.held() }),
      })
    } finally {
      hold.close()
      stopPings()
    }
    await limited.ended(statusSent(incoming))
  } catch (error) {
    await limited?.ended(statusSent(incoming, error))
    reportError(services, admitted ?? incoming, error)
  }
}
