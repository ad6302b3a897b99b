import { setTimeout as delay } from 'node:timers/promises'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import { AttemptFailed } from '#relay/attempt/failure.ts'
import { sendRequest } from '#relay/attempt/send-request.ts'
import type { PlainTranslation, Provider, ProviderCall, UpstreamRequest } from '#relay/providers/types.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import type { PlainCall } from './types.ts'

/** One attempt of an operation on one channel. */
export type Try = {
  services: RelayServices
  call: PlainCall
  plan: AttemptPlan
  attempt: Attempt
  provider: Provider
  providerCall: ProviderCall
  translation: PlainTranslation
  sentAt: number
  losses: readonly string[]
  /** The most images that were asked for, where that is not for the caller to say. */
  mostImages?: number | undefined
  /** The request went upstream. */
  asked: boolean
  /** Something came back. */
  answered: boolean
}

/** A task that is not done after so many looks never will be for a caller who waits. */
const mostLooks = 60

/** Sends a request as it stands and gives the answer that is one. @throws {AttemptFailed} for any other. */
export const sendBuilt = (current: Try, request: UpstreamRequest): Promise<UpstreamReply> =>
  sendRequest(current, request, current.call.stream ? 'stream' : 'unstreamed')

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
