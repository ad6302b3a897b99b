import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { asTimerMs, type TimeLimits } from './limits.ts'
import { toTransportError, TransportError, type TransportErrorKind } from './transport-error.ts'

export type ExchangeRequest = {
  dispatcher: Dispatcher
  options: Dispatcher.DispatchOptions
  limits: TimeLimits
  signal?: AbortSignal | undefined
  /** Connections through a proxy are made in several steps, which the client does not bound as a whole. */
  boundConnect: boolean
}

export type Exchange = {
  status: number
  headers: IncomingHttpHeaders
  /** May be read once. Leaving it early ends the exchange. */
  body: AsyncIterable<Uint8Array>
  cancel: () => void
}

/** Bytes held for a slow reader before the connection is paused. */
const highWaterBytes = 131_072

/** Some servers say once in a while that they are still at work. */
const mostInformational = 1000

const finished = { done: true, value: undefined } as const

type Reader = { resolve: (result: IteratorResult<Uint8Array>) => void; reject: (error: TransportError) => void }

/** Received chunks on their way to one reader, with back-pressure. */
export function createInbox(onDemand: () => void, onLeave: () => void) {
  const chunks: Uint8Array[] = []
  let held = 0
  let failure: TransportError | undefined
  let ended = false
  let reader: Reader | undefined
  return {
    isFull: () => held > highWaterBytes,
    push(chunk: Uint8Array) {
      if (reader) {
        const { resolve } = reader
        reader = undefined
        resolve({ done: false, value: chunk })
        return
      }
      chunks.push(chunk)
      held += chunk.length
    },
    end() {
      ended = true
      reader?.resolve(finished)
      reader = undefined
    },
    fail(error: TransportError) {
      failure = error
      reader?.reject(error)
      reader = undefined
    },
    iterator: {
      next() {
        const chunk = chunks.shift()
        if (chunk) {
          held -= chunk.length
          onDemand()
          return Promise.resolve({ done: false as const, value: chunk })
        }
        if (failure) return Promise.reject(failure)
        if (ended) return Promise.resolve(finished)
        return new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
          reader = { resolve, reject }
        })
      },
      return() {
        chunks.length = 0
        onLeave()
        return Promise.resolve(finished)
      },
    },
  }
}

/**
 * Waits for the other side: first for its answer to begin, then inside it. Time in which we ourselves do not read does not count;
 * what came while this process was busy was in time, and is read right after its timers have run.
 */
export function createSilenceLimit(
  limits: Pick<TimeLimits, 'firstByteTimeoutMs' | 'idleTimeoutMs'>,
  { isPaused, onSilence }: { isPaused: () => boolean; onSilence: () => void },
) {
  let kind: TransportErrorKind = 'timeout-first-byte'
  let isSilent = false
  let timer = setTimeout(look, asTimerMs(limits.firstByteTimeoutMs))
  function look() {
    if (isPaused()) {
      timer.refresh()
      return
    }
    isSilent = true
    setImmediate(() => {
      if (isSilent) onSilence()
    })
  }
  const restart = (): void => {
    isSilent = false
    timer.refresh()
  }
  return {
    /** What the silence is called by now. */
    kind: () => kind,
    restart,
    received: (): void => {
      if (kind === 'timeout-idle') return restart()
      isSilent = false
      clearTimeout(timer)
      kind = 'timeout-idle'
      timer = setTimeout(look, asTimerMs(limits.idleTimeoutMs))
    },
    clear: (): void => {
      isSilent = false
      clearTimeout(timer)
    },
  }
}

/**
 * One request and its answer, straight on the client's dispatcher: no stream objects in between, one timer, and the
 * caller's signal ends it at any moment. Resolves with the headers, rejects with a {@link TransportError}.
 */
export function exchange({ dispatcher, options, limits, signal, boundConnect }: ExchangeRequest): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let answered = false
    let informational = 0
    let closed = false
    const silence = createSilenceLimit(limits, { isPaused: () => controller?.paused === true, onSilence: onTime })
    const connectTimer = boundConnect
      ? setTimeout(() => fail(new TransportError('timeout-connect')), asTimerMs(limits.connectTimeoutMs))
      : undefined
    const totalTimer =
      limits.totalTimeoutMs === undefined ? undefined : setTimeout(onTime, asTimerMs(limits.totalTimeoutMs))

    function onTime() {
      fail(new TransportError(silence.kind(), { sent: controller !== undefined }))
    }
    function onAbort() {
      fail(new TransportError('aborted', { cause: signal?.reason, sent: controller !== undefined }))
    }
    function settle() {
      closed = true
      silence.clear()
      clearTimeout(connectTimer)
      clearTimeout(totalTimer)
      signal?.removeEventListener('abort', onAbort)
    }
    function fail(error: TransportError) {
      if (closed) return
      settle()
      if (answered) inbox.fail(error)
      else reject(error)
      controller?.abort(error)
    }
    function onDemand() {
      silence.restart()
      if (controller?.paused && !inbox.isFull()) controller.resume()
    }
    // Every call leaves in the end; an error with its stack is made only for one that is not over.
    const leave = () => {
      if (!closed) fail(new TransportError('aborted', { sent: true }))
    }
    const inbox = createInbox(onDemand, leave)

    if (signal?.aborted) {
      onAbort()
      return
    }
    signal?.addEventListener('abort', onAbort)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given
        clearTimeout(connectTimer)
        if (closed) given.abort(new TransportError('aborted'))
      },
      onResponseStart(_, status, headers) {
        if (closed) return
        // Informational answers come before the real one, and not for ever.
        if (status < 200) {
          informational += 1
          if (informational > mostInformational) fail(new TransportError('bad-response', { sent: true }))
          return
        }
        answered = true
        const body = { [Symbol.asyncIterator]: () => inbox.iterator }
        resolve({ status, headers, body, cancel: leave })
      },
      onResponseData(given, chunk) {
        if (closed) return
        silence.received()
        inbox.push(chunk)
        if (inbox.isFull()) given.pause()
      },
      onResponseEnd() {
        if (closed) return
        settle()
        inbox.end()
      },
      onResponseError(_, error) {
        fail(toTransportError(error, controller !== undefined))
      },
    }
    try {
      dispatcher.dispatch(options, handler)
    } catch (error) {
      fail(toTransportError(error, false))
    }
  })
}
