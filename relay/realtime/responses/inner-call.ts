import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Request } from 'express'

/** Who reads the answer of an inner call. What it returns is waited for before more is taken. */
export type AnswerReader = {
  begin: (answer: { status: number; contentType: string; headers: Record<string, string> }) => void
  take: (piece: Buffer) => Promise<void>
}

export type InnerCall = {
  /** Resolves when the answer is over, or was given up. */
  ended: Promise<void>
  /** Whoever asked has gone. */
  abandon: () => void
}

const endOfHead = Buffer.from('\r\n\r\n')

/** Of the connection that the call came over, and no business of the call's own. */
const isOfConnection = (name: string): boolean =>
  (name.startsWith('sec-websocket-') && name !== 'sec-websocket-protocol') ||
  [
    'connection',
    'upgrade',
    'content-length',
    'content-type',
    'content-encoding',
    'transfer-encoding',
    'expect',
  ].includes(name)

function requestOf(outer: Request, body: Buffer, connection: Duplex): IncomingMessage {
  const request = new IncomingMessage(connection as Socket)
  request.method = 'POST'
  request.url = outer.path
  request.httpVersion = '1.1'
  for (const [name, value] of Object.entries(outer.headers)) if (!isOfConnection(name)) request.headers[name] = value
  request.headers['content-type'] = 'application/json'
  request.headers['content-length'] = String(body.length)
  request.push(body)
  request.push(null)
  request.complete = true
  return request
}

/**
 * A call that arrived as a message of an open socket, answered like every other call of its path: with the headers of the
 * handshake and this body. The head of the answer is kept from the reader, as it is distinguished.
 */
export function callWithin(outer: Request, body: Buffer, reader: AnswerReader): InnerCall {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let head: Buffer | null = Buffer.alloc(0)

  const take = async (bytes: Buffer): Promise<void> => {
    let piece = bytes
    if (head !== null) {
      head = Buffer.concat([head, bytes])
      const at = head.indexOf(endOfHead)
      if (at < 0) return
      piece = head.subarray(at + endOfHead.length)
      head = null
      const headers = Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const)
      const contentType = String(response.getHeader('content-type') ?? '')
      reader.begin({ status: response.statusCode, contentType, headers: Object.fromEntries(headers) })
    }
    if (piece.length > 0) await reader.take(piece)
  }
  const connection = new Duplex({
    read: () => {},
    write: (bytes: Buffer, _encoding, done) => {
      take(bytes).then(
        () => done(),
        (error: unknown) => done(error as Error),
      )
    },
  })
  connection.on('error', () => {})
  const { remoteAddress } = outer.socket
  const request = requestOf(outer, body, Object.assign(connection, { remoteAddress, bytesRead: body.length }))
  const response = new ServerResponse(request)
  // The connection is this answer's alone, and its end is the answer's.
  response.shouldKeepAlive = false
  response.useChunkedEncodingByDefault = false
  response.assignSocket(connection as Socket)
  connection.on('drain', () => response.emit('drain'))
  connection.once('close', () => resolve())
  response.once('finish', () => {
    response.detachSocket(connection as Socket)
    response.emit('close')
    connection.destroy()
  })
  outer.app(request, response)
  return { ended, abandon: () => void connection.destroy() }
}
