import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '#core/errors.ts'
import { mayPass } from '#core/routing/retry.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import { asAttemptFailure, AttemptFailed, failureOfDomainError } from '#relay/attempt/failure.ts'
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

/** The upstream said 200, and what came is no answer. */
export const malformed = (cause?: unknown): AttemptFailed =>
  new AttemptFailed(failureOfDomainError(new DomainError('relay.reply_malformed')), { local: false, cause })

/** Sends a request as it stands and gives the answer that is one. @throws {AttemptFailed} for any other. */
export const sendBuilt = (current: Try, request: UpstreamRequest): Promise<UpstreamReply> =>
  sendRequest(current, request, current.call.stream ? 'stream' : 'unstreamed')

/** So many looks in a row may fail, each after twice the wait of the one before. */
const mostFailedLooks = 5

/** Another upstream would work on the same task a second time, and both would have to be paid. */
const underWay = (failed: AttemptFailed): AttemptFailed =>
  new AttemptFailed(failed.failure, { ...failed, mayBeTaken: true, cause: failed.cause })

/**
 * Asks for a task until it is done; a caller who leaves ends it. A look that fails says nothing of the task, so that one looks again.
 * @throws {AttemptFailed} which leads to no other place unless the task itself has failed.
 */
export async function untilDone(
  current: Try,
  first: unknown,
  read: (reply: UpstreamReply) => Promise<unknown>,
): Promise<unknown> {
  let json = first
  let failedLooks = 0
  for (let looks = 0; ; looks += 1) {
    const next = current.translation.next?.(json, current.providerCall)
    if (!next) return json
    if (looks >= mostLooks) {
      const message = 'the upstream did not finish its task in time'
      const failure = { status: 504, type: 'upstream_error', code: 'task_timeout', message }
      throw underWay(new AttemptFailed(failure, { local: false }))
    }
    await delay(next.afterMs * 2 ** failedLooks, undefined, { signal: current.call.upstreamAbort.signal })
    try {
      json = await read(await sendBuilt(current, next.request))
      failedLooks = 0
    } catch (error) {
      failedLooks += 1
      const failed = asAttemptFailure(error)
      if (failedLooks > mostFailedLooks || !mayPass(failed.failure.status)) throw underWay(failed)
    }
  }
}
