import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { has, numberOf, type Directives } from './directives.ts'
import { failureOf } from './failures.ts'
import { breakSocket, leaveSocket } from './outcome.ts'
import type { Failure } from './prompt.ts'
import { scriptOf } from './script.ts'
import type { Reply, Vendor } from './types.ts'
import { packerOf, writeBomb, writeStream } from './write.ts'

type Headers = Record<string, string>

function extraHeaders(directives: Directives): Headers {
  const headers: Headers = {}
  if (directives['retryafter'] !== undefined) headers['retry-after'] = directives['retryafter']
  if (directives['retryafterms'] !== undefined) headers['retry-after-ms'] = directives['retryafterms']
  if (directives['contenttype'] !== undefined) headers['content-type'] = directives['contenttype']
  const colon = directives['header']?.indexOf(':') ?? -1
  if (directives['header'] !== undefined && colon > 0)
    headers[directives['header'].slice(0, colon).toLowerCase()] = directives['header'].slice(colon + 1).trim()
  if (packerOf(directives)) headers['content-encoding'] = directives['encoding'] ?? ''
  return headers
}

const pack: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gzipSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  deflate: deflateSync,
}

type UnstreamedReply = { status: number; contentType: string; body: Buffer | string; headers?: Headers | undefined }

async function writeUnstreamed(
  response: ServerResponse,
  unstreamed: UnstreamedReply,
  directives: Directives,
): Promise<void> {
  const plain = typeof unstreamed.body === 'string' ? Buffer.from(unstreamed.body) : unstreamed.body
  const body = pack[directives['encoding'] ?? '']?.(plain) ?? plain
  response.writeHead(unstreamed.status, {
    'content-type': unstreamed.contentType,
    'content-length': body.length,
    ...unstreamed.headers,
    ...extraHeaders(directives),
  })
  const stops = ['cut', 'fin', 'stall'] as const
  const stop = stops.find((name) => has(directives, name))
  if (stop === undefined) {
    response.end(body)
    return
  }
  response.write(body.subarray(0, numberOf(directives, stop) === 0 ? 0 : Math.ceil(body.length / 2)))
  await nextTurn()
  if (stop === 'cut') breakSocket(response)
  if (stop === 'fin') leaveSocket(response)
}

const asJson = (body: unknown, status = 200, headers?: Headers): UnstreamedReply => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
  headers,
})

export const writeFailure = (
  response: ServerResponse,
  vendor: Vendor,
  { failure, directives = {} }: { failure: Failure; directives?: Directives },
) => {
  const { body, headers, status = failure.status } = vendor.error(failure)
  return writeUnstreamed(response, asJson(body, status, headers), directives)
}

const page = '<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>'

/** Answers that never come from the model. Undefined: nothing of the kind was ordered. */
export function writeOrderedFailure(
  response: ServerResponse,
  vendor: Vendor,
  directives: Directives,
): Promise<void> | undefined {
  if (has(directives, 'reset')) {
    breakSocket(response)
    return Promise.resolve()
  }
  // An accepted request that nobody answers: it ends when the caller gives up.
  if (has(directives, 'hang')) return Promise.resolve()
  const failure = failureOf(directives)
  if (has(directives, 'status') && !has(directives, 'errorevent'))
    return writeFailure(response, vendor, { failure, directives })
  if (has(directives, 'html'))
    return writeUnstreamed(response, { status: 200, contentType: 'text/html; charset=utf-8', body: page }, directives)
  if (has(directives, 'error200')) return writeUnstreamed(response, asJson(vendor.error(failure).body), directives)
  return undefined
}

function contentTypeOf(reply: Reply): string {
  if (reply.type !== 'stream' || reply.array) return 'application/json'
  return reply.framing?.contentType ?? 'text/event-stream; charset=utf-8'
}

export async function writeReply(
  response: ServerResponse,
  reply: Reply,
  { vendor, directives, passGate }: { vendor: Vendor; directives: Directives; passGate?: () => Promise<void> },
): Promise<void> {
  const isStream = reply.type === 'stream'
  const contentType = contentTypeOf(reply)
  const bomb = numberOf(directives, 'bomb')
  if (bomb !== undefined) {
    response.writeHead(200, { 'content-type': contentType, 'content-encoding': 'gzip', ...extraHeaders(directives) })
    return writeBomb(response, bomb)
  }
  if (isStream) {
    response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-cache', ...extraHeaders(directives) })
    const options = {
      directives,
      vendor,
      failure: failureOf(directives),
      array: reply.array ?? false,
      framing: reply.framing,
    }
    return writeStream(response, scriptOf(reply.events, options), { directives, passGate })
  }
  if (has(directives, 'empty')) return writeUnstreamed(response, { status: 200, contentType, body: '' }, directives)
  if (reply.type === 'bytes') return writeUnstreamed(response, { status: 200, ...reply }, directives)
  if (has(directives, 'malformed'))
    return writeUnstreamed(response, { status: 200, contentType, body: '{"broken": tru' }, directives)
  return writeUnstreamed(response, asJson(reply.body, reply.status, reply.headers), directives)
}
