import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { targetOf, type World } from '../answer-request.ts'
import { has, numberOf, type Directives } from '../directives.ts'
import { openai } from '../openai/vendor.ts'
import { recordOf, remember, type RecordedRequest } from '../recorder.ts'
import { writeFailure, writeOrderedFailure } from '../reply.ts'
import { converse } from './conversation.ts'
import { transcribe } from './transcription.ts'

const protocolsOf = (request: IncomingMessage): string[] =>
  (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())

const keyMark = 'openai-insecure-api-key.'

function keyOf(request: IncomingMessage): string | undefined {
  const offered = protocolsOf(request).find((name) => name.startsWith(keyMark))
  const own = request.headers['api-key']
  if (typeof own === 'string') return own
  return offered?.slice(keyMark.length) ?? openai.keyOf({ headers: request.headers, query: new URLSearchParams() })
}

/** Refusals are ordinary answers: the response has the connection as long as it is no socket. */
export function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.on('finish', () => socket.destroySoon())
  return response
}

/** A request for a socket, as the server hands it over. */
export type Arrival = { request: IncomingMessage; socket: Socket; head: Buffer }
/** What the provider keeps count of. */
export type SocketCounts = { opened: () => void; closed: (byCaller: boolean) => void }

/** Answers one request for a socket, by the directives of its address and header. */
export async function answerUpgrade(world: World, arrival: Arrival, counts: SocketCounts): Promise<void> {
  const { request, socket } = arrival
  socket.on('error', () => {})
  const target = targetOf(request)
  const key = keyOf(request)
  const events: unknown[] = []
  const recorded = recordOf(target, { key, body: events, bytes: Buffer.alloc(0) })
  if (world.record) remember(world.requests, recorded)
  const directives = world.counter.apply(target.directives, key ?? '')
  const response = responseOn(request, socket)
  if (!target.path.endsWith('/realtime'))
    return writeFailure(response, openai, { failure: { status: 404, message: 'no socket here' } })
  if (key === undefined) return writeFailure(response, openai, { failure: openai.missingKey })
  if (key === 'bad-key') return writeFailure(response, openai, { failure: openai.badKey })
  const delay = numberOf(directives, 'delay')
  if (delay) await pause(delay)
  // Failures with a number belong to the responses of the session.
  const ordered = has(directives, 'errorevent') ? undefined : writeOrderedFailure(response, openai, directives)
  if (ordered) return await ordered
  response.detachSocket(socket)
  open(world, arrival, { directives, recorded, events, counts })
}

/** A caller may send what is no JSON. */
function readText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

type Opening = { directives: Directives; recorded: RecordedRequest; events: unknown[]; counts: SocketCounts }

function open(world: World, { request, socket, head }: Arrival, opening: Opening): void {
  const { directives, recorded, events, counts } = opening
  const target = targetOf(request)
  const offered = protocolsOf(request)
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols: (names) => (names.has('realtime') ? 'realtime' : false),
  })
  server.handleUpgrade(request, socket, head, (session) => {
    let broken = false
    session.on('error', () => {})
    session.on('message', (data: Buffer) => {
      if (world.record) events.push(readText(data.toString()))
    })
    session.on('close', () => {
      recorded.outcome = broken ? 'broken' : 'aborted'
      recorded.status = 101
      recorded.endedAt = Date.now()
      counts.closed(!broken)
    })
    counts.opened()
    const only = target.query.get('intent') === 'transcription' && !target.query.has('model')
    const serve = only ? transcribe : converse
    serve({
      socket: session,
      directives,
      passGate: world.passGate,
      model: target.query.get('model') ?? target.query.get('deployment') ?? '',
      beta:
        offered.includes('openai-beta.realtime-v1') || (request.headers['openai-beta'] ?? '').includes('realtime=v1'),
      nextId: world.nextId,
      onBreak: () => {
        broken = true
      },
    })
  })
}
