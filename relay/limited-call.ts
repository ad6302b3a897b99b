import type { Request, Response } from 'express'
import { DomainError } from '#core/errors.ts'
import type { CallerDialect } from './dialects/types.ts'
import { admitAddress } from './request/admit.ts'
import { authenticate } from './request/authenticate.ts'
import type { Caller, Incoming, RelayServices } from './request/call.ts'
import { limit, type LimitedCall } from './request/limit.ts'
import { receive } from './request/receive.ts'
import { reportError, statusSent } from './response/report-error.ts'

export type Exchange = { req: Request; res: Response }

export type Identified = { incoming: Incoming; caller: Caller }

type Steps = {
  dialect: CallerDialect
  /** Neither charged nor logged: it is answered while the process goes down, too. */
  isFree?: boolean
  limit?: typeof limit
  /** Responds; what it throws is reported. */
  answer: (identified: Identified) => Promise<void>
  /** Reports to the caller what went wrong, in the form of its route. */
  report?: typeof reportError
}

/** A call that is no chat: its id, key, limits and address, around whatever its route does. */
export async function answerLimited(services: RelayServices, exchange: Exchange, steps: Steps): Promise<void> {
  const incoming = receive(services, steps.dialect, exchange)
  let limited: LimitedCall | null = null
  try {
    if (!steps.isFree && services.stopping()) throw new DomainError('relay.stopping')
    const caller = await authenticate(services, exchange.req)
    limited = await (steps.limit ?? limit)(services, caller, incoming)
    admitAddress(caller, incoming.ip)
    await steps.answer({ incoming, caller })
    await limited.ended(statusSent(incoming))
  } catch (error) {
    await limited?.ended(statusSent(incoming, error))
    ;(steps.report ?? reportError)(services, incoming, error)
  }
}
