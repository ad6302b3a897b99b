import { tagBytes } from './id3-tag.ts'

/** Kilobits a second by version and layer, as the index of a header means them; 0 leaves the length open, which nobody uses. */
const rates = {
  first: {
    1: [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    2: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  },
  second: {
    1: [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    3: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  },
} as const
const sampleRates = [44_100, 48_000, 32_000]
/** By the two bits of the version: 2.5, none, 2 and 1. */
const divisors = [4, 0, 2, 1]

type Frame = { length: number; samples: number; rate: number; layer: number }

function frameAt(bytes: Uint8Array, at: number): Frame | undefined {
  const second = bytes[at + 1] ?? 0
  const third = bytes[at + 2] ?? 0
  if (bytes[at] !== 0xff || (second & 0xe0) !== 0xe0) return undefined
  const divisor = divisors[(second >> 3) & 3] ?? 0
  const layer = 4 - ((second >> 1) & 3)
  if (divisor === 0 || (layer !== 1 && layer !== 2 && layer !== 3)) return undefined
  const kilobits = rates[divisor === 1 ? 'first' : 'second'][layer][third >> 4] ?? 0
  const rate = (sampleRates[(third >> 2) & 3] ?? 0) / divisor
  if (kilobits === 0 || rate === 0) return undefined
  const padding = (third >> 1) & 1
  const samples = layer === 1 ? 384 : layer === 3 && divisor > 1 ? 576 : 1152
  const slot = layer === 1 ? 4 : 1
  return {
    length: (Math.floor((samples / 8 / slot) * ((1000 * kilobits) / rate)) + padding) * slot,
    samples,
    rate,
    layer,
  }
}

/** The first frame of a file may be a table of its length and no sound. */
const isTable = (bytes: Uint8Array, at: number): boolean =>
  /Xing|Info|VBRI/.test(
    Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(64, bytes.length - at)).toString('latin1'),
  )

/** Where the sound begins, behind tags. Decoders skip none between frames, so that what looks like one there may be played. */
function beginOf(bytes: Uint8Array): number {
  let at = 0
  for (let tag = tagBytes(bytes, at); tag > 0 && at + tag < bytes.length; tag = tagBytes(bytes, at)) at += tag
  return at
}

/** The next place where a frame may begin. Its rate cannot be 0xff: files made of that alone are passed over as quickly as others. */
function nextSync(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xe0) !== 0xe0 || bytes[at + 2] === 0xff))
    at += 1
  return at
}

/**
 * How long the frames of an MP3 file play, whatever its tables say of it: several that were put behind each other have that of the first.
 * Nothing for another file. Looks at each frame once.
 */
export function mp3Seconds(bytes: Uint8Array): number | undefined {
  const samples = new Map<number, number>()
  /** Within an unbroken row of frames: elsewhere two have to follow each other, for any two bytes may look like one. */
  let inRow = false
  let at = beginOf(bytes)
  while (at + 4 <= bytes.length) {
    const frame = frameAt(bytes, at)
    if (frame && (inRow || isFollowed(bytes, at + frame.length, frame))) {
      if (inRow || !isTable(bytes, at)) samples.set(frame.rate, (samples.get(frame.rate) ?? 0) + frame.samples)
      inRow = true
      at += frame.length
      continue
    }
    inRow = false
    at = nextSync(bytes, at + 1)
  }
  if (samples.size === 0) return undefined
  return [...samples].reduce((sum, [rate, count]) => sum + count / rate, 0)
}

/** Whether the file ends behind a frame, or goes on with one like it. */
function isFollowed(bytes: Uint8Array, end: number, { rate, layer }: Frame): boolean {
  if (end === bytes.length) return true
  const next = frameAt(bytes, end)
  return next?.rate === rate && next.layer === layer
}
