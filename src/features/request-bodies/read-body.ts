import { parseJson } from '#core/exact-json.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { DomainError } from '#core/errors.ts'
import { weighJson } from '#core/json-weight.ts'
import { type Holding, smallBytes } from './budget.ts'
import { watchPace } from './pace.ts'
import { createPageBytes, createPlainBytes, type GatheredBytes } from './page-bytes.ts'
import type { Bodies } from './service.ts'

type Exchange = { req: IncomingMessage; res: ServerResponse }

export type BodyRules = {
  /** Whose share of the memory it takes. */
  address: string
  /** In bytes, unpacked. */
  largest: number
  /** What else is allowed to a sender whose body is larger: asked when it turns out to be, and it may refuse. */
  beyond?: () => Promise<number>
}

/** A whole body. Its memory is held until the response is over. */
export type Body = { bytes: Buffer; holding: Holding }

/** While so little of the memory is held there is no flood whose memory would have to go back to the system at once. */
const calmShare = 0.25

/** Memory is held and taken in multiples of it. */
const step = 16 * 1024

const unpackers = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }

/** Seconds after which one that found no room may come again. */
const retryAfterSeconds = 5

/**
 * Reads a whole body, gzip, deflate and br undone. What arrives is held against the memory for bodies before it is kept, in
 * steps: where there is no room the sender is made to wait, and refused past the wait.
 * @throws {DomainError} input.too_large, input.unreadable, input.encoding_unknown, input.too_slow, input.no_room, input.address_full
 */
export async function readBody(bodies: Bodies, { req, res }: Exchange, rules: BodyRules): Promise<Body> {
  const holding = bodies.budget.open(rules.address)
  if (res.closed) holding.release()
  else res.once('close', holding.release)
  if (!hasBody(req)) return { bytes: Buffer.alloc(0), holding }
  // Of a request that was cut off before this, not even its end is said any more.
  if (req.destroyed) throw new DomainError('input.unreadable', {}, { cause: hungUp() })
  try {
    return { bytes: await collect(bodies, { req, rules, holding }), holding }
  } catch (error) {
    holding.release()
    askToComeAgain(error, res)
    throw error
  }
}

/** It was for want of memory that a request was refused. */
export const isMemoryShort = (error: unknown): boolean =>
  error instanceof DomainError && ['input.no_room', 'input.address_full'].includes(error.code)

/** Says when to come again, where it was for want of memory that a request was refused. */
export function askToComeAgain(error: unknown, res: ServerResponse): void {
  if (isMemoryShort(error) && !res.headersSent) res.setHeader('retry-after', String(retryAfterSeconds))
}

/**
 * Holds what the value of a JSON body will take too. Texts that would take far more than any request needs are refused.
 * @throws {DomainError} input.unreadable, input.no_room, input.address_full
 */
export async function holdValue({ bytes, holding }: Body): Promise<void> {
  const weight = weighJson(bytes)
  if (weight.problem) throw new DomainError('input.unreadable', {}, { cause: new Error(weight.problem) })
  await holding.raise(bytes.length + weight.bytes)
}

/** The value of a JSON body. @throws {DomainError} as `holdValue` */
export async function parseBody(body: Body): Promise<unknown> {
  await holdValue(body)
  try {
    return parseJson(body.bytes.toString('utf8'))
  } catch (cause) {
    throw new DomainError('input.unreadable', {}, { cause })
  }
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const hungUp = (): Error => new Error('the sender hung up')

/** One for all, for a function made in the midst of a reading keeps all of it. */
const ignore = (): void => {}

type Reading = { req: IncomingMessage; rules: BodyRules; holding: Holding }

function collect({ limits, budget }: Bodies, { req, rules, holding }: Reading): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const { source, length } = unpacked(req)
  let { largest } = rules
  let gathered: GatheredBytes | null = null
  let packed = 0
  let waits = false
  let ended = false

  const close = (): void => {
    stopWatching()
    req.off('close', onClose).off('error', onClose).off('data', onPacked)
    source.off('data', onData).off('end', onEnd)
    // One that is thrown away may still say that it was cut.
    source.off('error', onError).on('error', ignore)
    if (source === req) return
    req.unpipe()
    source.destroy()
  }
  const fail = (error: unknown): void => {
    close()
    gathered?.drop()
    reject(error)
  }
  const finish = (): void => {
    close()
    resolve(gathered?.take() ?? Buffer.alloc(0))
  }
  const onError = (cause: unknown): void => fail(new DomainError('input.unreadable', {}, { cause }))
  const onClose = (): void => {
    // What had come whole, and was not yet read, is gone with it.
    if (!req.readableEnded) onError(hungUp())
  }
  const onEnd = (): void => {
    ended = true
    // For a moment the whole is there twice.
    if (!waits) proceed(holding.raise(2 * (gathered?.length ?? 0)), finish)
  }

  const gather = (): GatheredBytes =>
    length !== undefined && length <= smallBytes && budget.heldBytes < limits.memory * calmShare
      ? createPlainBytes(length)
      : createPageBytes(Math.max(largest, limits.largest))
  const append = (chunk: Buffer): void => {
    gathered ??= gather()
    const total = gathered.length + chunk.length
    if (total > gathered.capacity) gathered.grow(capacityFor(total, length ?? largest))
    gathered.append(chunk)
  }
  const hold = (chunk: Buffer): Promise<void> | undefined => {
    const total = (gathered?.length ?? 0) + chunk.length
    const isThere = total <= (gathered?.capacity ?? 0)
    return isThere ? undefined : holding.raise(capacityFor(total, length ?? largest))
  }
  const allow = async (total: number): Promise<void> => {
    if (total <= largest) return
    largest = Math.max(largest, (await rules.beyond?.()) ?? 0)
    if (total > largest) throw new DomainError('input.too_large')
  }
  const onData = (chunk: Buffer): void => {
    // The usual case: all of it in one piece, which is kept as it is.
    if (chunk.length === length && length <= largest) {
      source.off('end', onEnd)
      return proceed(holding.raise(length), () => {
        close()
        resolve(chunk)
      })
    }
    const total = (gathered?.length ?? 0) + chunk.length
    const room = total > largest ? allow(total).then(() => hold(chunk)) : hold(chunk)
    proceed(room, () => append(chunk))
  }
  /** What is packed may unpack to nothing, for ever. */
  const onPacked = (chunk: Buffer): void => {
    packed += chunk.length
    if (packed > Math.max(largest, limits.largest)) fail(new DomainError('input.too_large'))
  }
  /** Goes on at once, or once there is room; nothing more is taken from the sender meanwhile. */
  const proceed = (room: Promise<void> | undefined, go: () => void): void => {
    if (!room) return go()
    waits = true
    source.pause()
    room
      .then(() => {
        waits = false
        go()
        if (ended && go !== finish) onEnd()
        else source.resume()
      })
      .catch(fail)
  }

  const stopWatching = watchPace(req, limits.idleMs, {
    // What is being unpacked has come already, all of it or more than is taken at a time.
    waits: () => waits || req.complete || req.isPaused(),
    onSlow: () => fail(new DomainError('input.too_slow')),
  })
  req.on('close', onClose).on('error', onClose)
  source.on('error', onError).on('end', onEnd).on('data', onData)
  if (source !== req) req.on('data', onPacked)
  // A length that is too much is refused before anything of it is read.
  if (length !== undefined && length > largest) proceed(allow(length), () => {})
  return promise
}

/** In steps of a quarter, so that little is held that is not used. */
const capacityFor = (total: number, most: number): number =>
  Math.min(Math.max(total, Math.ceil((total * 1.25) / step) * step), Math.max(most, total))

/** The body without its compression, and how long it will be where that is known. */
function unpacked(req: IncomingMessage): { source: Readable; length: number | undefined } {
  const encoding = (req.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  const announced = req.headers['content-length']
  if (encoding === 'identity' || encoding === '')
    return { source: req, length: announced === undefined ? undefined : Number(announced) }
  if (!Object.hasOwn(unpackers, encoding)) throw new DomainError('input.encoding_unknown')
  return { source: req.pipe(unpackers[encoding as keyof typeof unpackers]()), length: undefined }
}
