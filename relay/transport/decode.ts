import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { TransportError } from './transport-error.ts'

const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
  deflate: createInflate,
}

/** Honest texts rarely shrink more than fiftyfold; a bomb's thousandfold is recognised long before it hurts. */
const suspectBytes = 8 * 1_048_576
const suspectRatio = 200

async function* unpacked(body: AsyncIterable<Uint8Array>, decoder: Transform): AsyncGenerator<Uint8Array> {
  let packed = 0
  let unpackedBytes = 0
  async function* counted() {
    for await (const chunk of body) {
      packed += chunk.length
      yield chunk
    }
  }
  const source = Readable.from(counted(), { objectMode: false })
  // Errors of the connection are distinguished from those of the decoder: only the latter are the upstream's bad data.
  source.on('error', (error) => decoder.destroy(error))
  source.pipe(decoder)
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      unpackedBytes += chunk.length
      if (unpackedBytes > suspectBytes && unpackedBytes > packed * suspectRatio)
        throw new TransportError('too-large', { sent: true })
      yield chunk
    }
  } catch (error) {
    throw error instanceof TransportError ? error : new TransportError('bad-response', { cause: error, sent: true })
  } finally {
    source.destroy()
    decoder.destroy()
  }
}

/** The body without its `content-encoding`. An encoding nobody asked for and we do not know is bad data. */
export function decodeBody(body: AsyncIterable<Uint8Array>, encoding: string | undefined): AsyncIterable<Uint8Array> {
  const name = encoding?.trim().toLowerCase()
  if (!name || name === 'identity') return body
  const create = decoders[name]
  if (!create) throw new TransportError('bad-response', { sent: true })
  return unpacked(body, create())
}
