import type { GuardedFetch } from './guarded-fetch.ts'
import type { TimeLimits } from './limits.ts'
import type { Transport, UpstreamReply } from './send.ts'
import { TransportError } from './transport-error.ts'

/** A program elsewhere that fetches in our place; empty while the operator has named none. */
type WorkerSettings = { url: string; key: string }

export type WorkerFetchOptions = {
  settings: () => WorkerSettings
  transport: Pick<Transport, 'send'>
  /** @throws {TransportError} for a target nobody may aim at. */
  check: (address: string) => URL
}

/** Has the operator's worker make a request. The operator chose its address, so it may be a private one. */
export const askWorker = (
  transport: Pick<Transport, 'send'>,
  { url, key }: WorkerSettings,
  { request, ...sending }: Partial<TimeLimits> & { request: Record<string, unknown>; signal?: AbortSignal },
): Promise<UpstreamReply> =>
  transport.send({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...request, key }),
    ...sending,
  })

/**
 * Fetches through the operator's worker where there is one, so that our own address stays unknown: such a target has to be
 * an https address, and one that we would fetch ourselves. Whatever is not a plain fetch goes directly.
 */
export function throughWorker(direct: GuardedFetch, { settings, transport, check }: WorkerFetchOptions): GuardedFetch {
  return async (address, request = {}) => {
    const worker = settings()
    if (worker.url === '' || (request.method ?? 'GET') !== 'GET') return direct(address, request)
    const { href, protocol } = check(address)
    if (protocol !== 'https:') throw new TransportError('bad-url', { message: 'only https addresses can be fetched' })
    const { timeoutMs = 30_000, maxBytes = 1_048_576, signal, hold } = request
    const deadline = AbortSignal.timeout(timeoutMs)
    const reply = await askWorker(transport, worker, {
      request: { url: href },
      firstByteTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    })
    return { status: reply.status, headers: reply.headers, body: await reply.bytes(maxBytes, hold) }
  }
}
