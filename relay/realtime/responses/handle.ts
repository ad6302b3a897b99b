import type { Request, Response } from 'express'
import { WebSocket } from 'ws'
import { DomainError } from '#core/errors.ts'
import { networkOf } from '#features/client-address/service.ts'
import { openAiResponses } from '#relay/dialects/openai-responses/index.ts'
import { admitAddress } from '#relay/request/admit.ts'
import { authenticate } from '#relay/request/authenticate.ts'
import { callerError, failureOf, finalFailure, isUnexpected } from '#relay/attempt/failure.ts'
import type { Incoming, RelayServices } from '#relay/request/call.ts'
import { limit, type LimitedCall } from '#relay/request/limit.ts'
import { receive } from '#relay/request/receive.ts'
import { reportError } from '#relay/response/report-error.ts'
import { closeTimeoutMs } from '../accept.ts'
import type { CallerEnd } from '../call.ts'
import { closeSocket } from '../close-codes.ts'
import { createFrameMemory } from '../frame-memory.ts'
import { answerHandshake } from '../handle.ts'
import { heartbeatMs, watchHeartbeat } from '../heartbeat.ts'
import { sendFrame } from '../pump.ts'
import { createConversation } from './conversation.ts'
import { createTurns, limitReached } from './turns.ts'

/** As long as OpenAI keeps one open. */
const longestMs = 60 * 60 * 1000
/** How soon a process that was asked to stop parts from callers who ask nothing. */
const lookEveryMs = 500

const restarting = { code: 1012, reason: '' }

/**
 * Responses over one socket, one after the other: each message is a call of its own, admitted, charged and answered as if it
 * had come by itself, whatever its upstream speaks. Only what was said before on the socket need not be sent again.
 */
export async function handleResponsesSocket(
  services: RelayServices,
  { req, res }: { req: Request; res: Response },
): Promise<void> {
  const incoming = receive(services, openAiResponses, { req, res })
  let end: CallerEnd
  let limited: LimitedCall | null = null
  try {
    if (services.draining()) throw new DomainError('relay.stopping')
    limited = await admitMessage(services, incoming)
    end = answerHandshake(services, incoming)
  } catch (error) {
    await limited?.ended(failureOf(error).status)
    return reportError(services, incoming, error)
  }
  limited.ended(200).catch((error: unknown) => {
    services.log.warn({ err: error, requestId: incoming.id }, 'the success of a handshake could not be counted')
  })
  serveTurns(services, incoming, end)
}

/** Whatever costs nothing is counted all the same: its caller is known anew, and within the limits of its requests. */
async function admitMessage(services: RelayServices, incoming: Incoming): Promise<LimitedCall> {
  const caller = await authenticate(services, incoming.req)
  const limited = await limit(services, caller, incoming)
  try {
    admitAddress(caller, incoming.ip)
  } catch (error) {
    await limited.ended(failureOf(error).status)
    throw error
  }
  return limited
}

function serveTurns(services: RelayServices, incoming: Incoming, { socket, frames }: CallerEnd): void {
  const memory = createFrameMemory(services.bodies, networkOf(incoming.ip))
  const send = (event: unknown): Promise<void> =>
    sendFrame(socket, {
      data: Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)),
      isBinary: false,
    })
  const admit = async () => {
    const message = { ...incoming, id: services.ambient.newId(32) }
    try {
      await (await admitMessage(services, message)).ended(200)
      return null
    } catch (error) {
      if (isUnexpected(error)) throw error
      const { status, body } = openAiResponses.error(callerError(finalFailure(error), message))
      return { status, error: (body as { error: unknown }).error }
    }
  }
  const conversation = createConversation(memory, services.bodies.limits.largest)
  const turns = createTurns(services, { outer: incoming.req, conversation, admit, send })
  const openedAt = performance.now()
  const isTooOld = (): boolean => performance.now() - openedAt > longestMs

  socket.on('message', (data: Buffer) => turns.lookAhead(data))
  frames.start(
    async (frame) => {
      // Behind the close nobody reads an answer: what crosses it is not begun, and not charged.
      if (socket.readyState !== WebSocket.OPEN) return
      if (services.draining()) return closeSocket(socket, restarting, closeTimeoutMs)
      if (isTooOld()) {
        await send(limitReached)
        return closeSocket(socket, { code: 1000, reason: '' }, closeTimeoutMs)
      }
      await turns.take(frame.data)
    },
    (error) => {
      services.log.warn({ err: error, requestId: incoming.id }, 'a socket of responses ended early')
      closeSocket(socket, { code: error instanceof DomainError ? 1009 : 1011, reason: '' }, closeTimeoutMs)
    },
  )
  const stopHeartbeat = watchHeartbeat(socket, { everyMs: heartbeatMs, isPaused: () => frames.paused })
  const looking = setInterval(() => {
    // One that never pauses between its responses.
    if (performance.now() - openedAt > 2 * longestMs) return socket.terminate()
    if (turns.busy) return
    if (services.draining()) closeSocket(socket, restarting, closeTimeoutMs)
    else if (isTooOld()) closeSocket(socket, { code: 1000, reason: '' }, closeTimeoutMs)
  }, lookEveryMs)
  // A caller's going halts this too, and leaves nobody to part from.
  incoming.upstreamAbort.signal.addEventListener('abort', () => {
    if (socket.readyState === WebSocket.OPEN) closeSocket(socket, restarting, closeTimeoutMs)
  })
  const over = (): void => {
    frames.stop('drop')
    turns.abandon()
    memory.end()
    stopHeartbeat()
    clearInterval(looking)
  }
  if (socket.readyState === WebSocket.CLOSED) over()
  else socket.once('close', over)
}
