import { amrNarrow, amrSamples, amrWide } from './amr-length.ts'
import { frameSeconds } from './flac-length.ts'
import { opusPacketSamples, opusRate } from './opus-packets.ts'

/** How many samples a packet plays, as decoders read it. `isMpeg`: frames are looked for in all of the bytes. */
export type Codec = {
  rate: number
  samplesOf: ((bytes: Uint8Array, at: number, size: number) => number) | undefined
  isMpeg?: boolean
}

const fixed = (rate: number, samples: number): Codec => ({ rate, samplesOf: () => samples })

/** By the name of its form, with the rate that stands beside it: 0 where that is open. */
export function codecOf(form: string, rate: number): Codec | undefined {
  switch (form) {
    case 'mp4a':
      return fixed(rate, 1024)
    case 'alac':
      return fixed(rate, 4096)
    case 'Opus':
      return { rate: opusRate, samplesOf: opusPacketSamples }
    case 'fLaC':
      // Its frames have a rate of their own.
      return { rate: 1e6, samplesOf: (bytes, at) => Math.round(frameSeconds(bytes, at, rate) * 1e6) }
    case 'samr':
    case 'sawb': {
      const codec = form === 'samr' ? amrNarrow : amrWide
      const samplesOf = (bytes: Uint8Array, from: number, size: number): number =>
        amrSamples(bytes, { from, to: Math.min(bytes.length, from + size) }, codec)
      return { rate: codec.rate, samplesOf }
    }
    case '.mp3':
      return { rate, samplesOf: undefined, isMpeg: true }
    // Single samples, as they are.
    case 'sowt':
    case 'twos':
    case 'raw ':
    case 'in24':
    case 'in32':
    case 'fl32':
    case 'fl64':
    case 'ulaw':
    case 'alaw':
    case 'lpcm':
    case 'ipcm':
    case 'fpcm':
      return fixed(rate, 1)
    default:
      return undefined
  }
}

const aacRates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350]

/** Kinds of AAC with short frames. */
const lowDelay = new Set([23, 39])

/** The numbers of MP3 among MPEG's codecs, and those of AAC. */
const mpegAudio = new Set([0x69, 0x6b])
const aac = new Set([0x40, 0x66, 0x67, 0x68])

/** What decoders go by: the rate before its doubling, whose frames are one to a packet, and their length. */
function aacOf(bytes: Uint8Array, from: number): Codec | undefined {
  let bit = 0
  const read = (count: number): number => {
    let value = 0
    for (let left = count; left > 0; left -= 1, bit += 1)
      value = value * 2 + (((bytes[from + (bit >> 3)] ?? 0) >> (7 - (bit & 7))) & 1)
    return value
  }
  const kindOf = (): number => {
    const kind = read(5)
    return kind === 31 ? 32 + read(6) : kind
  }
  const rateOf = (): number => {
    const index = read(4)
    return index === 15 ? read(24) : (aacRates[index] ?? 0)
  }
  let kind = kindOf()
  const rate = rateOf()
  read(4)
  if (kind === 5 || kind === 29) {
    rateOf()
    kind = kindOf()
  }
  if (rate === 0) return undefined
  const isShort = read(1) === 1
  return fixed(rate, (isShort ? 960 : 1024) / (lowDelay.has(kind) ? 2 : 1))
}

/** What MPEG's description of a stream says: nested parts, each with a number and a length. */
export function describedCodec(bytes: Uint8Array, from: number, to: number): Codec | undefined {
  const end = Math.min(to, bytes.length)
  let codec: Codec | undefined
  for (let at = from + 4; at + 2 <= end;) {
    const tag = bytes[at]
    at += 1
    for (let count = 0; count < 3 && (bytes[at] ?? 0) >= 0x80; count += 1) at += 1
    const length = bytes[at] ?? 0
    at += 1
    if (tag === 3) {
      const flags = bytes[at + 2] ?? 0
      at += 3 + (flags & 0x80 ? 2 : 0) + (flags & 0x20 ? 2 : 0)
      if (flags & 0x40) at += 1 + (bytes[at] ?? 0)
    } else if (tag === 4) {
      const number = bytes[at] ?? 0
      if (mpegAudio.has(number)) return { rate: 1, samplesOf: undefined, isMpeg: true }
      if (!aac.has(number)) return { rate: 1, samplesOf: undefined }
      at += 13
    } else {
      if (tag === 5) codec ??= aacOf(bytes, at)
      at += length
    }
  }
  return codec
}
