import { setTimeout as delay } from 'node:timers/promises'
import type { RelayServices } from '#relay/request/call.ts'
import { isUnsent } from '#relay/response/answer.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import { AttemptFailed } from '#relay/attempt/failure.ts'
import { shapeFailure } from '#relay/attempt/shape-failure.ts'
import { timeoutsOf } from '#relay/attempt/timeouts.ts'
import type { PlainTranslation, Provider, ProviderCall, UpstreamRequest } from '#relay/providers/types.ts'
import { retryAfterMs } from '#relay/transport/retry-after.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import type { PlainCall } from './types.ts'
import { proxyOf } from '#relay/attempt/channel-proxy.ts'

/** One try of an operation on one channel. */
export type Try = {
  services: RelayServices
  call: PlainCall
  plan: AttemptPlan
  provider: Provider
  providerCall: ProviderCall
  translation: PlainTranslation
  sentAt: number
  losses: string[]
  /** The request went upstream. */
  asked: boolean
}

const largestErrorBody = 1024 * 1024
/** A task that is not done after so many looks never will be for a caller who waits. */
const mostLooks = 60

/** Sends a request as it stands and gives the answer that is one. @throws {AttemptFailed} for any other. */
export async function sendBuilt(current: Try, built: UpstreamRequest): Promise<UpstreamReply> {
  const { services, call, plan, provider, providerCall } = current
  const { setting } = plan.attempt.channel
  const request = provider.sign?.(built, providerCall) ?? built
  const { body, headers } = await toBytes(request.body, request.headers)
  current.asked = true
  const sending = services.transport.send({
    method: request.method,
    url: request.url,
    headers,
    body,
    signal: call.upstreamAbort.signal,
    proxy: proxyOf(setting),
    ...timeoutsOf(setting, call.stream),
  })
  const reply = await sending.catch((error: unknown) => {
    if (isUnsent(error)) current.asked = false
    throw error
  })
  if (reply.status >= 200 && reply.status < 300) return reply
  const failure = provider.error(reply.status, await reply.text(largestErrorBody), reply.headers)
  throw new AttemptFailed(shapeFailure(services, plan.attempt.channel, failure), {
    local: false,
    retryAfterMs: retryAfterMs(reply.headers, services.ambient.now().getTime()) ?? null,
  })
}

/** A form becomes multipart bytes with the boundary in its header; a JSON value becomes text. */
async function toBytes(body: unknown, headers: Record<string, string>) {
  if (body instanceof FormData) {
    const encoded = new Response(body)
    const contentType = encoded.headers.get('content-type') ?? 'multipart/form-data'
    return { body: new Uint8Array(await encoded.arrayBuffer()), headers: { ...headers, 'content-type': contentType } }
  }
  if (body === undefined) return { body, headers }
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  return { body: bytes, headers }
}

/** Asks for a task until it is done; a caller who leaves ends it. */
export async function untilDone(
  current: Try,
  first: unknown,
  read: (reply: UpstreamReply) => Promise<unknown>,
): Promise<unknown> {
  let json = first
  for (let looks = 0; ; looks += 1) {
    const next = current.translation.next?.(json, current.providerCall)
    if (!next) return json
    if (looks >= mostLooks) {
      const message = 'the upstream did not finish its task in time'
      const failure = { status: 504, type: 'upstream_error', code: 'task_timeout', message }
      throw new AttemptFailed(failure, { local: false })
    }
    await delay(next.afterMs, undefined, { signal: current.call.upstreamAbort.signal })
    json = await read(await sendBuilt(current, next.request))
  }
}
