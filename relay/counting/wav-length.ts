import { type Coding, pcm, secondsOf } from './coded-length.ts'
import { mp3Seconds } from './mp3-length.ts'
import { startsWith } from './starts-with.ts'
import { viewOf } from './view-of.ts'

/** Microsoft's numbers of formats. */
const formatOf = {
  pcm: 1,
  adpcm: 2,
  float: 3,
  aLaw: 6,
  muLaw: 7,
  ima: 0x11,
  yamaha: 0x20,
  trueSpeech: 0x22,
  gsm: 0x31,
  g723: 0x42,
  g726: 0x45,
  mpeg: 0x50,
  mp3: 0x55,
  extensible: 0xfffe,
} as const

/** `isLittle`: whether the last byte of a number is its highest. */
type Format = { view: DataView; at: number; length: number; isLittle: boolean }

type Stated = { rate: number; coding: Coding | undefined; isMpeg: boolean }

/**
 * What decoders make of the bytes. They take the number of channels and of bits for it, so that whoever writes a header cannot lie in
 * these without spoiling what is played; the bytes of a second and of a sample, which stand there too, they pass over.
 */
function statedBy({ view, at, length, isLittle }: Format): Stated {
  const channels = view.getUint16(at + 2, isLittle)
  const rate = view.getUint32(at + 4, isLittle)
  // The oldest files end before it.
  let bits = length < 16 ? 8 : view.getUint16(at + 14, isLittle)
  let format: number = view.getUint16(at, isLittle)
  if (format === formatOf.extensible && length >= 26) {
    format = view.getUint16(at + 24, isLittle)
    // Of so many bits as are valid, which decoders go by, 24 in 32 apart.
    const valid = view.getUint16(at + 18, isLittle)
    if (valid > 0 && valid < bits && !(valid === 24 && bits === 32)) bits = valid
  }
  const block = view.getUint16(at + 12, isLittle)
  const bitsOfSecond = view.getUint32(at + 8, isLittle) * 8
  const coding = channels === 0 ? undefined : codingOf(format, { channels, bits, block, rate, bitsOfSecond })
  return { rate, coding, isMpeg: format === formatOf.mpeg || format === formatOf.mp3 }
}

type Layout = { channels: number; bits: number; block: number; rate: number; bitsOfSecond: number }

function codingOf(format: number, { channels, bits, block, rate, bitsOfSecond }: Layout): Coding | undefined {
  switch (format) {
    case formatOf.pcm:
    case formatOf.float:
      return pcm(channels, bits)
    case formatOf.aLaw:
    case formatOf.muLaw:
      return pcm(channels, 8)
    // Where the block that is stated can be none, decoders read on without one.
    case formatOf.adpcm:
      return { channels, bits: 4, block, head: 7 * channels, first: 2 }
    case formatOf.ima:
      return { channels, bits: bits >= 2 && bits <= 5 ? bits : 4, block, head: 4 * channels, first: 1 }
    case formatOf.yamaha:
      return { channels, bits: 4, block: channels, head: 0, first: 0 }
    case formatOf.g726: {
      const each = Math.floor(bitsOfSecond / rate)
      return each >= 2 && each <= 5 ? { channels, bits: each, block: each * channels, head: 0, first: 0 } : undefined
    }
    // Of a fixed number of samples in each block.
    case formatOf.trueSpeech:
      return { channels: 1, bits: 1, block: 32, head: 32, first: 240 }
    case formatOf.gsm:
      return { channels: 1, bits: 1, block: 65, head: 65, first: 320 }
    case formatOf.g723:
      return { channels: 1, bits: 1, block: 24, head: 24, first: 240 }
    default:
      return undefined
  }
}

type File = { at: number; isLittle: boolean; isWide: boolean }

/** Sony's form has names of 16 bytes, of which the first four are those of the others, and lengths of 8 that count the head too. */
const wideHead = 24
const wideBegin = 40

function fileAt(bytes: Uint8Array): File | undefined {
  const isWide = startsWith(bytes, 'riff') && startsWith(bytes, 'wave', 24)
  if (isWide) return { at: wideBegin, isLittle: true, isWide }
  if (!startsWith(bytes, 'WAVE', 8)) return undefined
  if (startsWith(bytes, 'RIFX')) return { at: 12, isLittle: false, isWide }
  const isLittle = ['RIFF', 'RF64', 'BW64'].some((name) => startsWith(bytes, name))
  return isLittle ? { at: 12, isLittle, isWide } : undefined
}

/** How many bytes a chunk says that it has. */
function lengthAt(view: DataView, at: number, { isLittle, isWide }: File): number {
  if (!isWide) return view.getUint32(at + 4, isLittle)
  return Math.max(0, Number(view.getBigUint64(at + 16, true)) - wideHead)
}

/**
 * How long a WAV file plays: as long as all of its data does by the number of its channels and bits, which none of the lengths that it
 * states makes shorter. Nothing for another file, or where it has no data. Looks at each chunk once.
 */
export function wavSeconds(bytes: Uint8Array): number | undefined {
  const file = fileAt(bytes)
  if (!file) return undefined
  const view = viewOf(bytes)
  /** The first and the last: decoders take either. */
  let formats: readonly Stated[] = []
  let largeData = 0
  let fact: number | undefined
  let data = 0
  let begin = 0
  let end = 0
  const head = file.isWide ? wideHead : 8
  for (let at = file.at; at + head <= bytes.length;) {
    const start = at + head
    let length = lengthAt(view, at, file)
    const has = (name: string, count: number): boolean =>
      startsWith(bytes, name, at) && length >= count && start + count <= bytes.length
    if (has('ds64', 16)) largeData = Number(view.getBigUint64(start + 8, true))
    if (has('fact', 4)) fact = view.getUint32(start, file.isLittle)
    if (has('fmt ', 14)) {
      const format = statedBy({
        view,
        at: start,
        length: Math.min(length, bytes.length - start),
        isLittle: file.isLittle,
      })
      formats = [formats[0] ?? format, format]
    }
    // What is open, as it is written into a pipe, goes on to the end of the file.
    if (startsWith(bytes, 'data', at)) {
      const left = bytes.length - start
      if (length === 0xffffffff || length < largeData) length = largeData
      if (length === 0 || length > left) length = left
      if (data === 0) begin = start
      data += length
      end = start + length
    }
    at = nextChunk(bytes, start + length, file)
  }
  if (data === 0 || formats.length === 0) return undefined
  const mpeg = formats.some(({ isMpeg }) => isMpeg) ? mp3Seconds(bytes.subarray(begin, end)) : undefined
  return Math.max(mpeg ?? 0, ...formats.map(({ rate, coding }) => secondsOf({ data, rate, coding, stated: fact })))
}

/** Chunks begin at even places, but for what some decoders read right behind odd data. */
function nextChunk(bytes: Uint8Array, end: number, { isWide }: File): number {
  if (isWide) return Math.ceil(end / 8) * 8
  return end % 2 === 1 && !startsWith(bytes, 'data', end) ? end + 1 : end
}
