import { MalformedUpstream } from '#relay/chat/events.ts'

/** One frame of `application/vnd.amazon.eventstream`. */
export type Frame = { headers: Record<string, string>; payload: Buffer }

const preludeBytes = 12
const trailerBytes = 4
const largestFrame = 24 * 1024 * 1024

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value >>> 0
})

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

/** Sizes of header values by their type; text and bytes carry their own length. */
const fixedSizes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
const textType = 7
const bytesType = 6

const broken = (what: string): MalformedUpstream => new MalformedUpstream(`the upstream sent a broken frame: ${what}`)

function readHeaders(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {}
  let at = 0
  while (at < bytes.length) {
    const nameEnd = at + 1 + (bytes[at] ?? 0)
    const name = bytes.toString('utf8', at + 1, nameEnd)
    const type = bytes[nameEnd]
    if (type === undefined || nameEnd + 1 > bytes.length) throw broken('header')
    at = nameEnd + 1
    if (type === textType || type === bytesType) {
      if (at + 2 > bytes.length) throw broken('header')
      const end = at + 2 + bytes.readUInt16BE(at)
      if (end > bytes.length) throw broken('header')
      if (type === textType && name !== '__proto__') headers[name] = bytes.toString('utf8', at + 2, end)
      at = end
    } else {
      const size = fixedSizes[type]
      if (size === undefined) throw broken('header type')
      at += size
    }
  }
  return headers
}

function readFrame(bytes: Buffer, total: number): Frame {
  const headerBytes = bytes.readUInt32BE(4)
  if (headerBytes > total - preludeBytes - trailerBytes) throw broken('lengths')
  if (crc32(bytes.subarray(0, total - trailerBytes)) !== bytes.readUInt32BE(total - trailerBytes))
    throw broken('checksum')
  const payloadStart = preludeBytes + headerBytes
  return {
    headers: readHeaders(bytes.subarray(preludeBytes, payloadStart)),
    payload: bytes.subarray(payloadStart, total - trailerBytes),
  }
}

/** Cuts a stream of bytes into frames, wherever the chunks end. */
export function createFrameSplitter(): { push: (chunk: Uint8Array) => Frame[] } {
  /** Joined only once a frame is complete: a large one comes in thousands of chunks. */
  let pieces: Uint8Array[] = []
  let length = 0
  let wanted = preludeBytes
  return {
    push(chunk) {
      pieces.push(chunk)
      length += chunk.length
      if (length < wanted) return []
      let rest = Buffer.concat(pieces, length)
      wanted = preludeBytes
      const frames: Frame[] = []
      while (rest.length >= preludeBytes) {
        const total = rest.readUInt32BE(0)
        if (crc32(rest.subarray(0, 8)) !== rest.readUInt32BE(8)) throw broken('prelude')
        if (total < preludeBytes + trailerBytes || total > largestFrame) throw broken('length')
        if (rest.length < total) {
          wanted = total
          break
        }
        frames.push(readFrame(rest, total))
        rest = rest.subarray(total)
      }
      pieces = [rest]
      length = rest.length
      return frames
    },
  }
}
