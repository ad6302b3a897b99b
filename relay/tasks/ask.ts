import { maskJson } from '#core/masking/mask-secrets.ts'
import { attemptSecrets } from '#relay/attempt/attempt-secrets.ts'
import { defaultBaseUrlOf } from '#core/channel-types/index.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import { proxyOf } from '#relay/attempt/channel-proxy.ts'

/** A reply that has been read to its end. */
export type TaskReply = { status: number; text: string }

const largestReply = 8 * 1024 * 1024

type TaskRequest = {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: unknown
  timeoutMs: number
}

/**
 * Asks a job service. A caller who hangs up does not stop it: the service may have taken the job by then, and it belongs to
 * the caller who pays for it. Only the end of the process does.
 * @throws {TransportError}
 */
export async function askService(
  services: RelayServices,
  place: Pick<Attempt, 'channel' | 'key'>,
  request: TaskRequest,
): Promise<TaskReply> {
  const { channel } = place
  const stop = new AbortController()
  services.underWay.add(stop)
  try {
    const reply: UpstreamReply = await services.transport.send({
      method: request.method,
      url: (channel.baseUrl || defaultBaseUrlOf(channel.type)) + request.path,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...request.headers },
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
      proxy: proxyOf(channel.setting),
      connectTimeoutMs: request.timeoutMs,
      firstByteTimeoutMs: request.timeoutMs,
      idleTimeoutMs: request.timeoutMs,
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(request.timeoutMs)]),
    })
    // Its words are stored and told whether it accepts or not; the addresses of its results are needed.
    const held = { ...attemptSecrets(place), baseUrl: undefined }
    return { status: reply.status, text: maskJson(await reply.text(largestReply), held) }
  } finally {
    services.underWay.delete(stop)
  }
}
