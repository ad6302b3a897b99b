import express, { type NextFunction, type Request, type Response } from 'express'
import { DomainError } from '#core/errors.ts'
import { isTooWide } from './body-width.ts'
import type { CallBody } from './call.ts'

/** Bytes a caller may send, counted after decompression. */
const largestBody = 64 * 1024 * 1024

const parser = express.raw({ type: () => true, limit: largestBody, inflate: true })

/**
 * Reads the whole body once, gzip, deflate and br undone; the bytes are kept so that every attempt can send them again.
 * @throws {DomainError} relay.body_too_large, relay.body_invalid
 */
export async function readBody(req: Request, res: Response): Promise<CallBody> {
  const bytes = withoutByteOrderMark(await readBytes(req, res))
  return { bytes, json: parseJson(bytes) }
}

/** Some editors and shells put one in front of what they send; no JSON reader upstream takes it. */
const withoutByteOrderMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

/** The whole body as it came, decompressed. */
export function readBytes(req: Request, res: Response): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    const next: NextFunction = (error?: unknown) =>
      error ? reject(asRefusal(error)) : resolve(Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0))
    parser(req, res, next)
  })
}

function asRefusal(error: unknown): DomainError {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : 400
  return status === 413
    ? new DomainError('relay.body_too_large')
    : new DomainError('relay.body_invalid', { detail: 'the body cannot be read' }, { cause: error })
}

/** @throws {DomainError} relay.body_invalid */
export function parseJson(bytes: Buffer): Record<string, unknown> {
  if (isTooWide(bytes)) throw new DomainError('relay.body_invalid', { detail: 'an object has too many names' })
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw new DomainError('relay.body_invalid', { detail: 'the body is not valid JSON' }, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError('relay.body_invalid', { detail: 'the body must be a JSON object' })
  }
  return withoutRouting(withoutLookalikes(value as Record<string, unknown>))
}

/**
 * Names by which callers of other gateways aim a call: an upstream that is one itself would send our key where they point.
 * What is missing here is not sent on.
 */
export const routingNames = ['api_base', 'base_url', 'api_key', 'custom_host', 'custom_llm_provider', 'extra_headers']

function withoutRouting(json: Record<string, unknown>): Record<string, unknown> {
  for (const name of routingNames) delete json[name]
  return json
}

/**
 * `Model` beside `model`: some upstreams do not tell the two apart and take the later, so that another model would answer
 * than the one that is priced. What is missing here is not sent on.
 */
function withoutLookalikes(json: Record<string, unknown>): Record<string, unknown> {
  for (const name of Object.keys(json)) {
    if (/^[a-z0-9_]*$/.test(name)) continue
    const plain = name.normalize('NFKC').toLowerCase()
    if (plain !== name && Object.hasOwn(json, plain)) delete json[name]
  }
  return json
}
