import type { Request, Response } from 'express'
import type { CallerDialect } from '#relay/dialects/types.ts'
import { admitAddress } from '#relay/request/admit.ts'
import { authenticate } from '#relay/request/authenticate.ts'
import type { Caller, Incoming, RelayServices } from '#relay/request/call.ts'
import { limit, type LimitedCall } from '#relay/request/limit.ts'
import { receive } from '#relay/request/receive.ts'
import { reportError, statusSent } from '#relay/response/report-error.ts'

/**
 * A call about what is stored for its caller: limited like any other, neither charged nor logged. `answer` responds, and resolves
 * with the status; what it throws is reported in the dialect.
 */
export async function answerUncharged(
  services: RelayServices,
  { dialect, req, res }: { dialect: CallerDialect; req: Request; res: Response },
  answer: (asked: { caller: Caller; incoming: Incoming }) => Promise<number>,
): Promise<void> {
  const incoming = receive(services, dialect, { req, res })
  let limited: LimitedCall | null = null
  try {
    const caller = await authenticate(services, req)
    limited = await limit(services, caller, incoming)
    admitAddress(caller, incoming.ip)
    await limited.ended(await answer({ caller, incoming }))
  } catch (error) {
    await limited?.ended(statusSent(incoming, error))
    reportError(services, incoming, error)
  }
}
