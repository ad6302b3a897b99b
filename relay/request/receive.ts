import { randomFillSync } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Request, Response } from 'express'
import type { Language } from '#core/errors.ts'
import { clientAddress } from '#features/client-address/service.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import type { Incoming, RelayServices } from './call.ts'

/** What a caller is counted under who left before the answer was complete. */
const hungUp = 499

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
  const hangUp: Incoming['hangUp'] = {}
  const leave = services.underWay.add(upstreamAbort)
  res.on('close', () => {
    leave()
    services.metrics.answered(dialect.id, res.writableFinished ? res.statusCode : hungUp)
    if (res.writableFinished) return
    callerAborted.abort()
    if (!hangUp.readsOn?.() && !services.options.get('global.finish_after_hangup_enabled')) upstreamAbort.abort()
  })
  services.tracing?.began({ id, req, res, dialect })
  return {
    id,
    req,
    res,
    dialect,
    receivedAt,
    startedAt: performance.now(),
    callerAborted,
    upstreamAbort,
    hangUp,
    leave,
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

/** Client libraries and agents say what they are; their messages end in logs and terminals that are read in English. */
const library =
  /^(async)?(openai|anthropic|google-genai|ai-sdk|litellm|langchain)|(ai-sdk|google-genai-sdk|claude-cli|claude-code|codex|opencode|gemini-?cli|stainless)/i

const isLibrary = (headers: IncomingHttpHeaders): boolean =>
  headers['x-stainless-lang'] !== undefined ||
  headers['x-goog-api-client'] !== undefined ||
  library.test(headers['user-agent'] ?? '')

type Weighed = { tag: string; weight: number }

function weighed(range: string): Weighed {
  const [tag = '', ...parameters] = range.trim().toLowerCase().split(';')
  const weight = parameters.map((text) => /^\s*q=([\d.]+)/.exec(text)?.[1]).find((text) => text !== undefined)
  return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) }
}

/** The language a caller asks for; null where it does not say, or asks for neither of ours. */
function askedLanguage(header: string): Language | null {
  if (header === '') return null
  const ranges = header
    .slice(0, 500)
    .split(',')
    .map(weighed)
    .filter(({ weight }) => weight > 0)
    .toSorted((left, right) => right.weight - left.weight)
  for (const { tag } of ranges) {
    if (/^zh\b/.test(tag)) return 'zh'
    if (/^en\b/.test(tag)) return 'en'
  }
  // Whoever reads some third language reads English sooner than Chinese.
  return ranges.some(({ tag }) => tag !== '' && tag !== '*') ? 'en' : null
}

/** The language of what the gateway itself says: as asked for, English for client libraries, else Chinese. */
export const languageOf = (headers: IncomingHttpHeaders): Language =>
  askedLanguage(headers['accept-language'] ?? '') ?? (isLibrary(headers) ? 'en' : 'zh')
