import { tagBytes } from './id3-tag.ts'
import { startsWith } from './starts-with.ts'
import { viewOf } from './view-of.ts'

/** Noise that cannot be packed takes a little more than its samples. */
const mostOverhead = 1.05

/** Among ten megabytes of audio some bytes look like a frame that is none; so little more than is stated is not believed. */
const mostStray = 1.01

/**
 * How long a FLAC file plays at least: as long as its frames do, where they are more than it states, and as its audio would, were
 * nothing of it packed. Nothing for another file.
 */
export function flacSeconds(bytes: Uint8Array): number | undefined {
  const begin = tagBytes(bytes, 0)
  if (begin + 42 > bytes.length || !startsWith(bytes, 'fLaC', begin)) return undefined
  const view = viewOf(bytes)
  const info = begin + 8
  const packed = view.getBigUint64(info + 10)
  const rate = Number(packed >> 44n)
  const bits = (Number((packed >> 41n) & 7n) + 1) * (Number((packed >> 36n) & 31n) + 1)
  let at = begin + 4
  for (let isLast = false; !isLast && at + 4 <= bytes.length;) {
    const head = view.getUint32(at)
    isLast = head >>> 31 === 1
    at += 4 + (head & 0xffffff)
  }
  const unpacked = rate === 0 ? 0 : (Math.max(0, bytes.length - at) * 8) / (rate * bits * mostOverhead)
  const stated = rate === 0 ? 0 : Number(packed & 0xfffffffffn) / rate
  const framed = framesSeconds(bytes, at, rate)
  const seconds = Math.max(unpacked, framed > stated * mostStray ? framed : stated)
  return rate === 0 && seconds === 0 ? undefined : seconds
}

function framesSeconds(bytes: Uint8Array, from: number, rate: number): number {
  let seconds = 0
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1))
    seconds += frameSeconds(bytes, at, rate)
  return seconds
}

const rates = [0, 88_200, 176_400, 192_000, 8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000]

/** How long the frame plays that begins here, by its header, which ends in a sum of its own; none where no frame does. */
export function frameSeconds(bytes: Uint8Array, at: number, statedRate: number): number {
  if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xfe) !== 0xf8) return 0
  const third = bytes[at + 2] ?? 0
  const fourth = bytes[at + 3] ?? 0
  const fifth = bytes[at + 4] ?? 0
  const size = third >> 4
  const speed = third & 15
  const isReserved = size === 0 || speed === 15 || fourth >> 4 > 10 || ((fourth >> 1) & 7) === 3 || (fourth & 1) === 1
  if (isReserved) return 0
  // The number of the frame, written as UTF-8 writes a letter.
  const numberBytes = fifth < 0x80 ? 1 : Math.clz32(~(fifth << 24))
  if (numberBytes > 7 || (fifth >= 0x80 && fifth < 0xc0)) return 0
  let end = at + 4 + numberBytes
  const next = (count: number): number => {
    let value = 0
    for (const byte of bytes.subarray(end, end + count)) value = value * 256 + byte
    end += count
    return value
  }
  const samples =
    size === 6
      ? next(1) + 1
      : size === 7
        ? next(2) + 1
        : size === 1
          ? 192
          : size < 6
            ? 576 << (size - 2)
            : 256 << (size - 8)
  const rate =
    speed === 0
      ? statedRate
      : speed === 12
        ? 1000 * next(1)
        : speed === 13
          ? next(2)
          : speed === 14
            ? 10 * next(2)
            : (rates[speed] ?? 0)
  if (rate === 0 || end >= bytes.length || checksum(bytes, at, end) !== bytes[end]) return 0
  return samples / rate
}

/** CRC-8 with the polynomial 0x07. */
const checksums = Uint8Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 0x80 ? (value << 1) ^ 0x07 : value << 1
  return value
})

function checksum(bytes: Uint8Array, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at += 1) value = checksums[value ^ (bytes[at] ?? 0)] ?? 0
  return value
}
