import { tagBytes } from './id3-tag.ts'
import { startsWith } from './starts-with.ts'

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Noise that cannot be packed takes a little more than its samples. */
const mostOverhead = 1.05

/** How long a FLAC file plays at least: as long as its sound would, were nothing of it packed. Nothing for another file. */
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
  return rate === 0 ? undefined : (Math.max(0, bytes.length - at) * 8) / (rate * bits * mostOverhead)
}

/** How long a WAV file plays that was written into a pipe and says nothing of it: to its end. Nothing for another one. */
export function openWavSeconds(bytes: Uint8Array): number | undefined {
  if (bytes.length < 44 || !startsWith(bytes, 'RIFF') || !startsWith(bytes, 'WAVE', 8)) return undefined
  const view = viewOf(bytes)
  let bytesPerSecond = 0
  for (let at = 12; at + 8 <= bytes.length;) {
    const length = view.getUint32(at + 4, true)
    if (startsWith(bytes, 'fmt ', at) && at + 20 <= bytes.length) bytesPerSecond = view.getUint32(at + 16, true)
    if (startsWith(bytes, 'data', at))
      return length === 0 && bytesPerSecond > 0 ? (bytes.length - at - 8) / bytesPerSecond : undefined
    at += 8 + length + (length % 2)
  }
  return undefined
}
