import type { LookupFunction } from 'node:net'
import { createGuardedFetch, type GuardedFetch, type GuardedOpen } from './guarded-fetch.ts'
import type { HoldMore } from './send.ts'
import { throughWorker, type WorkerFetchOptions } from './worker-fetch.ts'
import { TransportError } from './transport-error.ts'

export type InlineMedia = {
  mediaType: string
  /** Base64. */
  data: string
}

type Fetching = { signal?: AbortSignal | undefined; hold?: HoldMore | undefined }

/** @throws {TransportError} when the address is refused, or leads to nothing usable. */
export type MediaFetcher = {
  (url: string, fetching: Fetching): Promise<InlineMedia>
  /** Whatever the address answers, through the same guard. */
  guardedFetch: GuardedFetch
  /** The same as it comes, and never through the worker. */
  open: GuardedOpen
  /** The target of an address, by its own words alone. @throws {TransportError} `bad-url`. */
  check: (url: string) => URL
  close: () => Promise<void>
}

export type MediaFetcherOptions = {
  /** `OUTBOUND_ALLOW`. */
  allowedRanges?: readonly string[] | undefined
  maxBytes?: number | undefined
  /** Who fetches in our place, where the operator wants that. */
  worker?: Omit<WorkerFetchOptions, 'check'> | undefined
  resolve?: LookupFunction | undefined
}

const signatures: [mediaType: string, hex: string][] = [
  ['image/png', '89504e470d0a1a0a'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '47494638'],
  ['image/bmp', '424d'],
  ['application/pdf', '255044462d'],
]

/** The type by the first bytes, for servers that do not state it. */
function sniff(bytes: Buffer): string | undefined {
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
  if (isWebp) return 'image/webp'
  const head = bytes.toString('hex', 0, 8)
  return signatures.find(([, hex]) => head.startsWith(hex))?.[0]
}

const vagueTypes = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'application/x-www-form-urlencoded'])

/** Fetches images and files by their address, to be sent inside a request. Callers aim it, so it goes through the guard. */
export function createMediaFetcher(options: MediaFetcherOptions = {}): MediaFetcher {
  const { maxBytes = 20 * 1_048_576, worker, ...guard } = options
  const direct = createGuardedFetch(guard)
  const fetch = worker ? throughWorker(direct, { ...worker, check: direct.check }) : direct
  const fetchMedia = async (url: string, fetching: Fetching): Promise<InlineMedia> => {
    const reply = await fetch(url, { maxBytes, ...fetching, timeoutMs: 60_000 })
    if (reply.status !== 200 || reply.body.length === 0)
      throw new TransportError('bad-response', { message: 'the file could not be fetched', sent: true })
    const declaredType = (reply.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
    const mediaType = vagueTypes.has(declaredType) ? (sniff(reply.body) ?? 'application/octet-stream') : declaredType
    if (mediaType === 'text/html')
      throw new TransportError('bad-response', {
        message: 'the address leads to a web page, not to a file',
        sent: true,
      })
    return { mediaType, data: reply.body.toString('base64') }
  }
  return Object.assign(fetchMedia, { guardedFetch: fetch, open: direct.open, check: direct.check, close: direct.close })
}
