import { WebSocket } from 'ws'

/** One message as it came. */
export type Frame = { data: Buffer; isBinary: boolean }

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

/** Frames of one side on their way to the other: in their order, one at a time, with back-pressure. */
export function createPump(source: WebSocket): Pump {
  let queue: Frame[] = []
  let held = 0
  let paused = false
  let stopped = false
  let taker: { take: (frame: Frame) => Promise<void>; onError: (error: unknown) => void } | null = null
  let working: Promise<void> = Promise.resolve()
  let busy = false

  const work = async ({ take, onError }: NonNullable<typeof taker>): Promise<void> => {
    busy = true
    try {
      for (let frame = queue.shift(); frame; frame = queue.shift()) {
        held -= frame.data.length
        if (paused && held <= mostHeld / 2) {
          paused = false
          source.resume()
        }
        await take(frame)
      }
    } catch (error) {
      queue = []
      onError(error)
    } finally {
      busy = false
    }
  }
  const run = (): void => {
    if (taker && !busy && queue.length > 0) working = work(taker)
  }

  source.on('message', (data, isBinary) => {
    if (stopped) return
    const frame = { data: data as Buffer, isBinary }
    queue.push(frame)
    held += frame.data.length
    if (!paused && held > mostHeld) {
      paused = true
      source.pause()
    }
    run()
  })

  return {
    start: (take, onError) => {
      taker = { take, onError }
      run()
    },
    stop: (rest) => {
      stopped = true
      if (rest === 'drop') queue = []
    },
    drained: () => working,
    get paused() {
      return paused
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
