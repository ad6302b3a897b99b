import { startsWith } from './starts-with.ts'

export type ImageSize = { width: number; height: number }

/** Metadata in front of a JPEG's size is at most a few segments of 64 KiB. */
const headerCharacters = 360_000

/** Width and height of a base64 PNG, GIF, JPEG or WebP, read from its header alone; undefined when it is none of them. */
export function imageSize(base64: string): ImageSize | undefined {
  const bytes = Buffer.from(base64.slice(0, headerCharacters), 'base64')
  const size = pngSize(bytes) ?? gifSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes)
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}

const pngSize = (bytes: Buffer): ImageSize | undefined =>
  startsWith(bytes, '\x89PNG') && bytes.length >= 24
    ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    : undefined

const gifSize = (bytes: Buffer): ImageSize | undefined =>
  startsWith(bytes, 'GIF8') && bytes.length >= 10
    ? { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
    : undefined

function webpSize(bytes: Buffer): ImageSize | undefined {
  if (!startsWith(bytes, 'RIFF') || !startsWith(bytes, 'WEBP', 8) || bytes.length < 30) return undefined
  if (startsWith(bytes, 'VP8X', 12)) return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (startsWith(bytes, 'VP8L', 12)) {
    const bits = bytes.readUInt32LE(21)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
}

/** A frame header is any SOF marker; C4, C8 and CC share its range but are tables. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

function jpegSize(bytes: Buffer): ImageSize | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    if (isFrameHeader(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    // Fill bytes precede a marker without a length of their own.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}
