import { maskJson } from '#core/masking/mask-secrets.ts'
import { upstreamChannelOf } from '#relay/attempt/upstream-channel.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import { secretsBesideAddress } from '#relay/upstream-call/channel.ts'
import { sendToUpstream } from '#relay/upstream-call/send.ts'
import { endsWithin } from '#relay/upstream-call/timeouts.ts'

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
 * Asks a task service. A caller who hangs up does not stop it: the service may have accepted the task by then, and it belongs to
 * the caller who pays for it. Only the end of the process does.
 * @throws {TransportError}
 */
export async function askService(
  services: RelayServices,
  place: Pick<Attempt, 'channel' | 'key'>,
  request: TaskRequest,
): Promise<TaskReply> {
  const channel = upstreamChannelOf(place)
  const { method, path, body, timeoutMs } = request
  const stop = new AbortController()
  const leave = services.underWay.add(stop)
  try {
    const headers = { 'content-type': 'application/json', accept: 'application/json', ...request.headers }
    const reply = await sendToUpstream(services, channel, {
      request: { method, url: channel.baseUrl + path, headers, body },
      limits: endsWithin(timeoutMs),
      signal: stop.signal,
    })
    // Its words are stored and returned whether it accepts or not; the addresses of its results are needed.
    return { status: reply.status, text: maskJson(await reply.text(largestReply), secretsBesideAddress(channel)) }
  } finally {
    leave()
  }
}
