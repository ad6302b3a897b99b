import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { FrameMemory } from './frame-memory.ts'

/** One message as it came. */
export type Frame = { data: Buffer; isBinary: boolean }

/** What a frame takes beside its bytes, of which small ones have next to none. */
const frameBytes = 256

/** What a frame takes while it is here. */
export const weightOf = ({ data }: Frame): number => data.length + frameBytes

/** Bytes held for whoever takes them slowly before the source is paused. */
const mostHeld = 1024 * 1024

export type Pump = {
  /** From here on each frame is taken in turn, those that came before included. */
  start: (take: (frame: Frame) => Promise<void>, onError: (error: unknown) => void) => void
  /** Nothing more is let in; what is held is still taken, unless it is to be dropped. */
  stop: (held: 'take' | 'drop') => void
  /** Resolves once everything held was taken. */
  drained: () => Promise<void>
  readonly paused: boolean
}

type Origin = {
  connection: Socket
  /** A frame that is begun and not gone on with ends the session: whoever sends it may mean just that. */
  isPaceWatched: boolean
}

type Consumer = { take: (frame: Frame) => Promise<void>; onError: (error: unknown) => void }

/**
 * Frames of one side on their way to the other: in their order, one at a time, with back-pressure. What is here of them, a
 * frame that is still arriving over the connection included, is held in `memory`; who finds no room there ends the session.
 */
export function createPump(source: WebSocket, memory: FrameMemory, { connection, isPaceWatched }: Origin): Pump {
  let queue: Frame[] = []
  let queued = 0
  let taking = 0
  /** What the connection had brought when the last message was whole. */
  let received = connection.bytesRead
  let full = false
  let waits = false
  let stopped = false
  let consumer: Consumer | null = null
  let failure: { error: unknown } | null = null
  let working: Promise<void> = Promise.resolve()
  let busy = false

  const arriving = (): number => Math.max(0, connection.bytesRead - received)
  const here = (): number => queued + taking + arriving()
  const fail = (error: unknown): void => {
    queue = []
    queued = 0
    stopped = true
    if (consumer) consumer.onError(error)
    else failure ??= { error }
  }
  const flow = (): void => {
    full = full ? queued > mostHeld / 2 : queued > mostHeld
    if ((full || waits) === source.isPaused) return
    if (full || waits) source.pause()
    else source.resume()
  }
  /** Nothing more is taken from the source until there is room. */
  const hold = (): void => {
    if (waits) return
    const room = memory.hold(here())
    if (!room) return
    waits = true
    flow()
    room.then(
      () => {
        waits = false
        flow()
      },
      (error: unknown) => fail(error),
    )
  }

  const work = async ({ take }: Consumer): Promise<void> => {
    busy = true
    try {
      for (let frame = queue.shift(); frame; frame = queue.shift()) {
        taking = weightOf(frame)
        queued -= taking
        flow()
        await memory.holdValue(frame.data, here())
        await take(frame)
        taking = 0
        hold()
      }
    } catch (error) {
      fail(error)
    } finally {
      busy = false
    }
  }
  const run = (): void => {
    if (consumer && !busy && queue.length > 0) working = work(consumer)
  }

  source.on('message', (data, isBinary) => {
    received = connection.bytesRead
    if (stopped) return
    const frame = { data: data as Buffer, isBinary }
    queue.push(frame)
    queued += weightOf(frame)
    flow()
    hold()
    run()
  })
  // Two bytes of head and four of mask: these come between the pieces of a message.
  for (const control of ['ping', 'pong'] as const)
    source.on(control, (data: Buffer) => void (received += data.length + 6))
  connection.on('data', hold)
  const isIdle = (): boolean => source.isPaused || arriving() === 0
  const stopWatching = isPaceWatched ? memory.watch(connection, isIdle, fail) : undefined
  source.once('close', () => {
    stopWatching?.()
    memory.end()
  })

  return {
    start: (take, onError) => {
      consumer = { take, onError }
      if (failure) onError(failure.error)
      run()
    },
    stop: (rest) => {
      stopped = true
      if (rest === 'take') return
      queue = []
      queued = 0
      // Unread, the source could give no sign of life.
      flow()
    },
    drained: () => working,
    get paused() {
      return source.isPaused
    },
  }
}

/** Sends a frame on unchanged; resolves once the other side may get the next one. Who has gone gets nothing. */
export function sendFrame(to: WebSocket, { data, isBinary }: Frame): Promise<void> {
  if (to.readyState !== WebSocket.OPEN) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  to.send(data, { binary: isBinary }, () => resolve())
  return to.bufferedAmount > mostHeld ? promise : Promise.resolve()
}
