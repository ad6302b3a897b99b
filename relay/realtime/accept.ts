import { WebSocket, WebSocketServer } from 'ws'
import { DomainError } from '#core/errors.ts'
import { openAiError } from '#relay/dialects/openai-chat/error.ts'
import { networkOf } from '#features/client-address/service.ts'
import type { Incoming, RelayServices } from '#relay/request/call.ts'
import { callerError, finalFailure } from '#relay/attempt/failure.ts'
import type { CallerEnd } from './call.ts'
import { closeSocket } from './close-codes.ts'
import { createFrameMemory } from './frame-memory.ts'
import { createPump } from './pump.ts'
import { headOf } from './upgrades.ts'

/** 15 MB of audio, the most that one event may bring, as base64 with something around it. */
export const largestFrame = 24 * 1024 * 1024

/** How long a caller may take to agree to the end. */
export const closeTimeoutMs = 2000

/**
 * Answers the caller's handshake and takes the connection out of the response; until then it is refused like any call.
 * @throws {DomainError} relay.upgrade_required, relay.upgrade_failed
 */
export function acceptCaller({ bodies }: RelayServices, { req, res, ip }: Incoming): CallerEnd {
  const head = headOf(req)
  if (head === undefined) {
    res.setHeader('upgrade', 'websocket')
    throw new DomainError('relay.upgrade_required')
  }
  const { socket: connection } = req
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: largestFrame,
    handleProtocols: (offered) => (offered.has('realtime') ? 'realtime' : false),
  })
  // The request's id and what is left of its limits, as on any answer.
  server.on('headers', (headers) => {
    for (const [name, value] of Object.entries(res.getHeaders())) headers.push(`${name}: ${String(value)}`)
  })
  // Without a listener a handshake that is none would be answered past the response.
  server.on('wsClientError', () => {})
  let end: CallerEnd | undefined
  server.handleUpgrade(req, connection, head, (socket) => {
    socket.on('error', () => {})
    const memory = createFrameMemory(bodies, networkOf(ip))
    end = { socket, frames: createPump(socket, memory, { connection, isPaceWatched: true }) }
  })
  if (!end) throw new DomainError('relay.upgrade_failed')
  res.detachSocket(connection)
  return end
}

/** What a close code says of a failure: ours to fix, ours to wait for, or the caller's. */
function closeCodeOf(status: number, code: string | undefined): number {
  if (code === 'relay.stopping') return 1012
  if (status === 429 || status === 503) return 1013
  return status < 500 ? 1008 : 1011
}

type ErrorToSend = {
  error: unknown
  /** The caller's event that it is about. */
  about?: Record<string, unknown>
}

/** Says what went wrong; the session may go on. */
export function sendError({ socket }: CallerEnd, incoming: Incoming, { error, about }: ErrorToSend): void {
  if (socket.readyState !== WebSocket.OPEN) return
  const body = openAiError(callerError(finalFailure(error), incoming)).body as { error: object }
  const name = about?.['event_id']
  const shown = { ...body, error: { ...body.error, ...(typeof name === 'string' ? { event_id: name } : {}) } }
  socket.send(JSON.stringify({ type: 'error', event_id: `evt_${incoming.id}`, ...shown }))
}

/** Ends a session that has its socket already: an error event, then the close. */
export function refuseCaller(end: CallerEnd, incoming: Incoming, error: unknown): void {
  const { socket } = end
  if (socket.readyState !== WebSocket.OPEN) return
  sendError(end, incoming, { error })
  const failure = finalFailure(error)
  const code = closeCodeOf(failure.status, error instanceof DomainError ? error.code : undefined)
  closeSocket(socket, { code, reason: '' }, closeTimeoutMs)
}
