import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import {
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  gzipSync,
  type BrotliCompress,
  type Gzip,
  type ZstdCompress,
} from 'node:zlib'
import { has, numberOf, type Directives } from './directives.ts'
import { breakSocket } from './outcome.ts'
import type { Script } from './script.ts'

type Packer = Gzip | BrotliCompress | ZstdCompress

const packers: Record<string, () => Packer> = {
  gzip: createGzip,
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: createZstdCompress,
  deflate: createDeflate,
}

export const packerOf = (directives: Directives) => packers[directives['encoding'] ?? '']

const drained = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })

async function send(response: ServerResponse, chunk: string | Buffer): Promise<void> {
  if (!response.write(chunk)) await drained(response)
}

/** Packs one chunk so that the reader can unpack it without waiting for the next. */
const packed = (packer: Packer, chunk: string | Buffer) =>
  new Promise<Buffer>((resolve) => {
    const parts: Buffer[] = []
    const collect = (part: Buffer) => parts.push(part)
    packer.on('data', collect)
    packer.write(chunk)
    packer.flush(() => {
      packer.off('data', collect)
      resolve(Buffer.concat(parts))
    })
  })

async function* inPieces(chunks: Iterable<string | Buffer>, size: number): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for (const chunk of chunks) {
    rest = Buffer.concat([rest, typeof chunk === 'string' ? Buffer.from(chunk) : chunk])
    while (rest.length >= size) {
      yield rest.subarray(0, size)
      rest = rest.subarray(size)
      await nextTurn()
    }
  }
  if (rest.length > 0) yield rest
}

type Pace = { directives: Directives; passGate?: (() => Promise<void>) | undefined }

async function* paced(
  chunks: Iterable<string | Buffer>,
  { directives, passGate }: Pace,
): AsyncGenerator<string | Buffer> {
  const gap = numberOf(directives, 'gap') ?? 0
  const packer = packerOf(directives)?.()
  const gateAt = numberOf(directives, 'gateat')
  let sent = 0
  for (const chunk of chunks) {
    if (gap > 0 && sent > 0) await pause(gap)
    if (sent === gateAt) await passGate?.()
    sent += 1
    yield packer ? await packed(packer, chunk) : chunk
  }
  if (packer) yield await finished(packer)
}

/** The closing bytes of a packed stream. */
const finished = (packer: Packer) =>
  new Promise<Buffer>((resolve) => {
    const parts: Buffer[] = []
    packer.on('data', (part: Buffer) => parts.push(part))
    packer.on('end', () => resolve(Buffer.concat(parts)))
    packer.end()
  })

/** Writes a stream by its script. Returns early when the reader has gone. */
export async function writeStream(response: ServerResponse, script: Script, pace: Pace): Promise<void> {
  const { directives } = pace
  const split = has(directives, 'onebyte') ? 1 : numberOf(directives, 'split')
  response.flushHeaders()
  if (split !== undefined) {
    for await (const piece of inPieces(script.chunks, split)) {
      if (response.destroyed) return
      await send(response, piece)
    }
  } else if (has(directives, 'gap') || has(directives, 'gateat') || has(directives, 'encoding')) {
    for await (const chunk of paced(script.chunks, pace)) {
      if (response.destroyed) return
      await send(response, chunk)
    }
  } else {
    for (const chunk of script.chunks) {
      if (response.destroyed) return
      if (!response.write(chunk)) await drained(response)
    }
  }
  if (script.ending === 'end') response.end()
  if (script.ending === 'cut') {
    // One turn of the loop lets the bytes written so far reach the socket first.
    await nextTurn()
    breakSocket(response)
  }
}

let megabyteOfZeros: Buffer | undefined

/** Gzip members may follow one another, so one packed megabyte makes any number of them. */
export async function writeBomb(response: ServerResponse, megabytes: number): Promise<void> {
  megabyteOfZeros ??= gzipSync(Buffer.alloc(1_048_576, '0'))
  for (let sent = 0; sent < megabytes && !response.destroyed; sent += 1) await send(response, megabyteOfZeros)
  response.end()
}
