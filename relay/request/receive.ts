import { randomFillSync } from 'node:crypto'
import type { Request, Response } from 'express'
import { clientAddress } from '#features/client-address/service.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import type { Incoming, RelayServices } from './call.ts'
import { languageOf } from './language.ts'

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
    language: languageOf(req.headers),
  }
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const digits = (value: number, width: number): string => String(value).padStart(width, '0')

// Asking the system for eight bytes costs as much as for thousands.
const bytes = Buffer.alloc(4096)
let used = bytes.length

function randomLetters(count: number): string {
  if (used + count > bytes.length) {
    randomFillSync(bytes)
    used = 0
  }
  let letters = ''
  for (let at = 0; at < count; at += 1) letters += alphabet[(bytes[used + at] ?? 0) % alphabet.length]
  used += count
  return letters
}

/** `yyyyMMddHHmmss`, nanoseconds, eight random characters: sortable by time and unique across processes. */
function createRequestId(now: Date): string {
  const day = `${now.getUTCFullYear()}${digits(now.getUTCMonth() + 1, 2)}${digits(now.getUTCDate(), 2)}`
  const time = `${digits(now.getUTCHours(), 2)}${digits(now.getUTCMinutes(), 2)}${digits(now.getUTCSeconds(), 2)}`
  const nanoseconds = digits(Number(process.hrtime.bigint() % 1_000_000_000n), 9)
  return day + time + nanoseconds + randomLetters(8)
}
