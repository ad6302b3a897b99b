import type { LookupFunction } from 'node:net'
import type { WebSocket } from 'ws'
import { createInbox, createSilenceLimit, type Exchange } from './exchange.ts'
import type { TimeLimits } from './limits.ts'
import { openSocket, SocketRefused } from './open-socket.ts'
import { toTransportError, TransportError } from './transport-error.ts'

export type SocketExchangeRequest = {
  url: string
  headers: Record<string, string>
  body: string | Uint8Array
  limits: TimeLimits
  proxy?: string | undefined
  signal?: AbortSignal | undefined
  /** Whether a frame is the answer's last one, after which nobody has to wait for the upstream to close. */
  isLastFrame?: ((text: string) => boolean) | undefined
}

const largestFrame = 10 * 1_048_576
/** What a socket that broke without a close frame is closed with. */
const brokenOff = 1006

/** Line ends stand only between the parts of a JSON text, never inside them. */
const asLine = (text: string): Buffer => Buffer.from(`${text.replaceAll(/[\r\n]+/g, ' ')}\n`)

const isProtocolError = (error: Error): boolean =>
  'code' in error && typeof error.code === 'string' && error.code.startsWith('WS_ERR_')

/** The rest of an exchange over an open, paused socket, in the manner of the one over HTTP. */
function converse(socket: WebSocket, { body, limits, signal, isLastFrame }: SocketExchangeRequest): Exchange {
  let closed = false
  const silence = createSilenceLimit(limits, { isPaused: () => socket.isPaused, onSilence: onTime })

  function onTime() {
    fail(new TransportError(silence.kind(), { sent: true }))
  }
  function onAbort() {
    fail(new TransportError('aborted', { cause: signal?.reason, sent: true }))
  }
  function settle() {
    closed = true
    silence.clear()
    signal?.removeEventListener('abort', onAbort)
  }
  function fail(error: TransportError) {
    if (closed) return
    settle()
    inbox.fail(error)
    socket.terminate()
  }
  function end() {
    if (closed) return
    settle()
    inbox.end()
    // The close frame of the other side can be read only by a socket that reads.
    socket.resume()
    socket.close()
  }
  function onDemand() {
    silence.restart()
    if (!closed && socket.isPaused && !inbox.isFull()) socket.resume()
  }
  const leave = () => {
    if (!closed) fail(new TransportError('aborted', { sent: true }))
  }
  const inbox = createInbox(onDemand, leave)

  socket.on('message', (data: Buffer) => {
    if (closed) return
    silence.received()
    const text = data.toString('utf8')
    inbox.push(asLine(text))
    if (isLastFrame?.(text)) end()
    else if (inbox.isFull()) socket.pause()
  })
  socket.on('close', (code) => (code === brokenOff ? fail(new TransportError('reset', { sent: true })) : end()))
  socket.on('error', (error) =>
    fail(
      isProtocolError(error)
        ? new TransportError('bad-response', { cause: error, sent: true })
        : toTransportError(error, true),
    ),
  )
  signal?.addEventListener('abort', onAbort)
  socket.send(body, { binary: false })
  socket.resume()
  if (signal?.aborted) onAbort()
  return {
    status: 200,
    headers: { 'content-type': 'application/x-ndjson' },
    body: { [Symbol.asyncIterator]: () => inbox.iterator },
    cancel: leave,
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield Buffer.from(text)
}

/** A page or a redirect instead of a socket is no answer either. */
const asRefused = ({ status, headers, body }: SocketRefused): Exchange => {
  // The body has been unpacked of everything but its own encoding, which refusals do not have.
  const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = headers
  return { status: status < 400 ? 502 : status, headers: rest, body: once(body), cancel: () => {} }
}

/**
 * One message sent over a socket of its own, and all that comes back until it closes: the answer's body has one line for
 * each frame. A handshake that was refused is an answer with its own status.
 */
export async function socketExchange(request: SocketExchangeRequest, lookup: LookupFunction): Promise<Exchange> {
  const { url, headers, proxy, limits } = request
  const signal = request.signal ?? new AbortController().signal
  try {
    const { socket } = await openSocket(
      { url, headers, protocols: [], proxy, signal, connectTimeoutMs: limits.connectTimeoutMs, largestFrame },
      lookup,
    )
    return converse(socket, request)
  } catch (error) {
    if (error instanceof SocketRefused) return asRefused(error)
    throw error
  }
}
