import type { Request, Response } from 'express'
import { clientAddress } from '#features/client-address/service.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import type { Incoming, RelayServices } from './call.ts'
import { createRequestId } from './request-id.ts'

/** Gives a request its id and watches for the caller hanging up and the process going down. */
export function receive(
  services: RelayServices,
  dialect: CallerDialect,
  { req, res }: { req: Request; res: Response },
): Incoming {
  const receivedAt = services.ambient.now()
  const id = createRequestId(receivedAt)
  res.setHeader('x-request-id', id)
  if (dialect.requestIdHeader !== undefined) res.setHeader(dialect.requestIdHeader, id)
  const callerAborted = new AbortController()
  const upstreamAbort = new AbortController()
  services.underWay.add(upstreamAbort)
  res.on('close', () => {
    services.underWay.delete(upstreamAbort)
    if (res.writableFinished) return
    callerAborted.abort()
    if (!services.options.get('global.finish_after_hangup_enabled')) upstreamAbort.abort()
  })
  return {
    id,
    req,
    res,
    dialect,
    receivedAt,
    startedAt: performance.now(),
    callerAborted,
    upstreamAbort,
    ip: clientAddress(services, req),
  }
}
