import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { DomainError } from '#core/errors.ts'
import { renderMessage } from '#core/render-message.ts'
import { languageOf, refusalOfPath } from '#relay/index.ts'
import { originForm } from './request-target.ts'

/** What Node says of a request that it could not read, with the bytes that it was reading then. */
type Unread = Error & { code?: string; rawPacket?: Buffer }

/** How long what is still being sent is taken to nowhere: a connection that is closed at once could take the answer along. */
const lingerMs = 1000

/** Node answers such requests by a status alone, before anything of ours has seen them; here they are answered like all others. */
export function answerUnread(server: Server): void {
  const answered = new WeakSet<Socket>()
  server.on('clientError', (error: Unread, stream) => {
    const socket = stream as Socket & { _httpMessage?: ServerResponse | null }
    // The event comes again with every packet that follows.
    if (answered.has(socket)) return
    // An answer that has begun cannot be followed by another.
    if (!socket.writable || error.code === 'ECONNRESET' || socket._httpMessage?.headersSent) {
      socket.destroy()
      return
    }
    answered.add(socket)
    socket.end(replyTo(error))
    setTimeout(() => socket.destroy(), lingerMs).unref()
  })
}

const refusalOf = (code: string | undefined): DomainError => {
  if (code === 'HPE_HEADER_OVERFLOW') return new DomainError('input.head_too_long')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new DomainError('input.head_too_slow')
  return new DomainError('input.head_unreadable')
}

function replyTo({ code, rawPacket }: Unread): string {
  const refusal = refusalOf(code)
  const { path, headers } = readHead(rawPacket?.toString('latin1') ?? '')
  const language = languageOf(headers)
  const status = refusal.status ?? 400
  const relayed = path === undefined ? null : refusalOfPath(path, refusal, language)
  const body = JSON.stringify(relayed ?? bodyOf(path, renderMessage(refusal, language)))
  return [
    `HTTP/1.1 ${status} ${reasons[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(relayed ? ['Access-Control-Allow-Origin: *'] : []),
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** Where the path is not known, since it came in an earlier packet, the body is of both forms. */
function bodyOf(path: string | undefined, message: string): Record<string, unknown> {
  const envelope = { success: false, message }
  if (path !== undefined && /^\/api(\/|$)/.test(path)) return envelope
  const error = { message, type: 'invalid_request_error', param: '', code: '' }
  return path === undefined ? { ...envelope, error } : { error }
}

/** The path where the packet is the request's first, and the headers that can be seen in it. */
function readHead(packet: string): { path: string | undefined; headers: IncomingHttpHeaders } {
  const headers = packet.matchAll(/^(accept-language|user-agent|x-stainless-lang|x-goog-api-client):[ \t]*(.*?)\r?$/gim)
  const target = /^[A-Z]+ ([^ ]+)/.exec(packet)?.[1]
  return {
    path: target === undefined ? undefined : originForm(target).url.split(/[?#]/, 1)[0],
    headers: Object.fromEntries([...headers].map(([, name = '', value = '']) => [name.toLowerCase(), value])),
  }
}
