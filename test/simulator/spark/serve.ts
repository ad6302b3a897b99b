import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { answerOf } from '../answer.ts'
import { targetOf, type World } from '../answer-request.ts'
import { has, numberOf, takeDirectives, type Directives } from '../directives.ts'
import { failureOf } from '../failures.ts'
import { asObject, Refusal } from '../prompt.ts'
import { type Arrival, responseOn, type SocketCounts } from '../realtime/serve.ts'
import { recordOf, remember } from '../recorder.ts'
import { writeFailure, writeOrderedFailure } from '../reply.ts'
import { scriptOf } from '../script.ts'
import { failureFrame, framesOf, readFrame } from './frames.ts'
import { spark } from './vendor.ts'

/** Paths of the socket, whatever the version. */
export const sparkPattern = /^\/(v?[\w.]+\/chat|chat\/[\w-]+)$/

const framing = { contentType: '', frame: ({ data }: { data: string }) => data }

async function answerFrame(world: World, socket: WebSocket, { directives, json }: Asked): Promise<void> {
  try {
    const prompt = readFrame(asObject(json))
    const taken = takeDirectives(prompt.text)
    const all = { ...directives, ...taken.directives }
    const frames = framesOf(answerOf({ ...prompt, text: taken.text }, all), world.nextId('cht'))
    const options = { directives: all, vendor: spark, failure: failureOf(all), array: false, framing }
    const script = scriptOf(frames, options)
    const gap = numberOf(all, 'gap')
    for (const chunk of script.chunks) {
      if (gap) await pause(gap)
      socket.send(chunk.toString())
    }
    await nextTurn()
    if (script.ending === 'cut') socket.terminate()
    // After its last frame the service leaves the socket open, for its caller to close.
    else if (has(all, 'fin') || has(all, 'empty')) socket.close()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    socket.send(failureFrame(error.failure).data)
  }
}

type Asked = { directives: Directives; json: unknown }

/** Answers one request for a signed socket: refuses the handshake, or serves the one message that comes over it. */
export async function answerSpark(world: World, { request, socket, head }: Arrival, counts: SocketCounts) {
  socket.on('error', () => {})
  const target = targetOf(request)
  const { method, headers, directives: ordered } = target
  const key = spark.keyOf(target)
  const recorded = recordOf(target, { key, body: undefined, bytes: Buffer.alloc(0) })
  if (world.record) remember(world.requests, recorded)
  // The signature changes with the second, so it is no name to count failures under.
  const directives = world.counter.apply(ordered, spark.id)
  const response = responseOn(request, socket)
  try {
    spark.verify?.({ method, url: request.url ?? '/', headers, bytes: Buffer.alloc(0) })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return writeFailure(response, spark, { failure: error.failure })
  }
  const delay = numberOf(directives, 'delay')
  if (delay) await pause(delay)
  const refusal = has(directives, 'errorevent') ? undefined : writeOrderedFailure(response, spark, directives)
  if (refusal) return refusal
  response.detachSocket(socket)
  const server = new WebSocketServer({ noServer: true, clientTracking: false })
  server.handleUpgrade(request, socket, head, (session) => {
    counts.opened()
    session.on('error', () => {})
    session.on('close', (code) => {
      Object.assign(recorded, { outcome: code === 1006 ? 'aborted' : 'answered', status: 101, endedAt: Date.now() })
      counts.closed(false)
    })
    session.on('message', (data: RawData) => {
      const bytes = data as Buffer
      const json: unknown = JSON.parse(bytes.toString())
      Object.assign(recorded, { bytes, body: json })
      void answerFrame(world, session, { directives, json })
    })
  })
}
