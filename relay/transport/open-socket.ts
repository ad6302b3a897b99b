import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { LookupFunction, Socket } from 'node:net'
import { WebSocket } from 'ws'
import { isLinkLocalHost } from './address.ts'
import { asTimerMs } from './limits.ts'
import { openConnection, placeOf } from './open-connection.ts'
import { toTransportError, TransportError } from './transport-error.ts'

export type OpenSocket = {
  /** `ws:` or `wss:`. */
  url: string
  headers: Record<string, string>
  protocols: string[]
  /** Address of an http, https or socks5 proxy. */
  proxy?: string | undefined
  signal: AbortSignal
  /** For the whole opening, the proxy and the handshake included. */
  connectTimeoutMs: number
  largestFrame: number
}

/** A socket that is open, and the connection that its frames arrive over. */
export type OpenedSocket = { socket: WebSocket; connection: Socket }

/** The upstream answered the handshake with something else than a socket. */
export class SocketRefused extends Error {
  override name = 'SocketRefused'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  constructor(status: number, headers: IncomingHttpHeaders, body: string) {
    super(`the upstream answered ${status}`)
    this.status = status
    this.headers = headers
    this.body = body
  }
}

const largestRefusal = 1024 * 1024

async function readRefusal(reply: IncomingMessage): Promise<SocketRefused> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > largestRefusal) break
    chunks.push(chunk)
  }
  return new SocketRefused(reply.statusCode ?? 500, reply.headers, Buffer.concat(chunks).toString('utf8'))
}

function targetOf(address: string): URL {
  const url = URL.parse(address)
  if (!url || (url.protocol !== 'ws:' && url.protocol !== 'wss:') || url.hostname === '')
    throw new TransportError('bad-url')
  if (isLinkLocalHost(url.hostname)) throw new TransportError('bad-url')
  url.hash = ''
  return url
}

/** Resolves once the handshake is done. Paused, so that nothing is lost before somebody listens. */
function shaken(socket: WebSocket, signal: AbortSignal): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason)
      socket.terminate()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    const settle = (act: () => void): void => {
      signal.removeEventListener('abort', onAbort)
      act()
    }
    socket.on('open', () => {
      socket.pause()
      settle(() => resolve(socket))
    })
    socket.on('unexpected-response', (request, reply) => {
      void readRefusal(reply).then(
        (refusal) => settle(() => reject(refusal)),
        (error: unknown) => settle(() => reject(error)),
      )
      reply.on('close', () => request.destroy())
    })
    // Stays for good: an error of a socket that nobody listens to would end the process.
    socket.on('error', (error) => settle(() => reject(error)))
  })
}

/**
 * Opens a WebSocket to a channel's upstream, paused.
 * @throws {TransportError} when it cannot be reached; {SocketRefused} when it answered otherwise.
 */
export async function openSocket(input: OpenSocket, lookup: LookupFunction): Promise<OpenedSocket> {
  const url = targetOf(input.url)
  const expired = AbortSignal.timeout(asTimerMs(input.connectTimeoutMs))
  const signal = AbortSignal.any([input.signal, expired])
  let connection: Socket | undefined
  try {
    const opened = await openConnection(placeOf(url, url.protocol === 'wss:'), input.proxy, { lookup, signal })
    connection = opened
    const socket = new WebSocket(url, input.protocols, {
      headers: input.headers,
      createConnection: () => opened,
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: input.largestFrame,
    })
    return { socket: await shaken(socket, signal), connection: opened }
  } catch (error) {
    connection?.on('error', () => {}).destroy()
    if (error instanceof SocketRefused) throw error
    const sent = connection !== undefined
    if (input.signal.aborted) throw new TransportError('aborted', { cause: error, sent })
    if (expired.aborted) throw new TransportError('timeout-connect', { cause: error, sent })
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw new TransportError('bad-request', { cause: error })
    throw toTransportError(error, sent)
  }
}
