import type { Request, Response } from 'express'
import { DomainError } from '#core/errors.ts'
import { networkOf } from '#features/client-address/service.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { type AttemptPlan, attemptAll } from '#relay/attempt/attempts.ts'
import { authenticate } from '#relay/request/authenticate.ts'
import type { CallCore, Incoming, RelayServices } from '#relay/request/call.ts'
import { failureOf, isUnexpected } from '#relay/attempt/failure.ts'
import { limit, type LimitedCall } from '#relay/request/limit.ts'
import { receive } from '#relay/request/receive.ts'
import { reportError } from '#relay/response/report-error.ts'
import { acceptCaller, refuseCaller } from './accept.ts'
import { admitRealtime, admitUnnamed, modelInAddress } from './admit.ts'
import { estimateResponse } from './session-billing.ts'
import type { CallerEnd } from './call.ts'
import { dial } from './dial.ts'
import { createFrameMemory } from './frame-memory.ts'
import { createPump } from './pump.ts'
import { placeOfConversation } from './resumption.ts'
import { runSession } from './session.ts'
import { asksToTranscribe, openTranscription } from './transcription-opening.ts'

/** One realtime session from its handshake to its close. */
export async function handleRealtime(
  services: RelayServices,
  { req, res }: { req: Request; res: Response },
): Promise<void> {
  const incoming = receive(services, openAiChat, { req, res })
  let end: CallerEnd | null = null
  let limited: LimitedCall | null = null
  try {
    if (services.stopping()) throw new DomainError('relay.stopping')
    const caller = await authenticate(services, req)
    const counted = await limit(services, caller, incoming)
    limited = counted
    const transcribes = asksToTranscribe(incoming)
    let model: string
    if (transcribes) {
      admitUnnamed(services, incoming, caller)
      end = answerHandshake(services, incoming)
      ;({ model, end } = await openTranscription(services, incoming, end))
      // It may have waited for its name since.
      if (services.draining()) throw new DomainError('relay.stopping')
    } else model = modelInAddress(incoming)
    const admitted = admitRealtime(services, incoming, { caller, model })
    const call = { ...admitted, storedAt: await placeOfConversation(services, admitted) }
    await attemptAll(services, call, {
      begin: () => {
        end ??= answerHandshake(services, incoming)
      },
      amountOf: (plan) => estimateResponse(services, plan),
      forward: (plan) => {
        if (!end) throw new Error('an attempt begins after the handshake')
        return converse(services, call, { plan, limited: counted, caller: end, transcribes })
      },
    })
  } catch (error) {
    await limited?.ended(failureOf(error).status)
    report(services, { incoming, end, error })
  }
}

/** From here on the caller's end is a socket, and closes when the caller leaves. */
export function answerHandshake(services: RelayServices, incoming: Incoming): CallerEnd {
  const { callerAborted, upstreamAbort, leave } = incoming
  const end = acceptCaller(services, incoming)
  end.socket.on('close', () => {
    callerAborted.abort()
    upstreamAbort.abort()
    leave()
  })
  return end
}

type Conversation = { plan: AttemptPlan; limited: LimitedCall; caller: CallerEnd; transcribes: boolean }

/** One attempt. @throws {AttemptFailed} while the upstream is not connected; what fails later ends the session. */
async function converse(
  services: RelayServices,
  call: CallCore,
  { plan, limited, caller, transcribes }: Conversation,
): Promise<void> {
  const sentAt = performance.now()
  const { socket, connection, translation } = await dial(services, call, { plan, transcribes })
  const { channel, key, model } = plan.attempt
  // A session may last for an hour: others need not wait that long to know that this key works.
  services.circuitBreaker.succeeded({ channelId: channel.id, key: key.position, model })
  // Both sides count for the caller's address: its session is what they are there for.
  const memory = createFrameMemory(services.bodies, networkOf(call.ip))
  const upstream = { socket, frames: createPump(socket, memory, { connection, isPaceWatched: false }) }
  const counted = limited.ended(200).catch((error: unknown) => {
    services.log.warn({ err: error, requestId: call.id }, 'the success of a session could not be counted')
  })
  await runSession({ services, call, plan, caller, upstream, translation, transcribes, sentAt })
  await counted
}

type Failed = { incoming: Incoming; end: CallerEnd | null; error: unknown }

function report(services: RelayServices, { incoming, end, error }: Failed): void {
  if (!end) return reportError(services, incoming, error)
  if (isUnexpected(error)) services.reportUnexpected(error, incoming.id)
  refuseCaller(end, incoming, error)
}
