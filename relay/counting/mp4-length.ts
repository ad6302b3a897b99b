import { mp3Seconds } from './mp3-length.ts'
import { type Box, eachBox, nameAt, type Numbers, numbersOf } from './mp4-boxes.ts'
import { type Codec, codecOf, describedCodec } from './mp4-codecs.ts'
import { mostBytesOfSecond } from './coded-length.ts'
import { startsWith } from './starts-with.ts'

type Track = {
  id: number
  isAudio: boolean
  /** Players go by the first. */
  descriptions: number
  /** Of its times, in a second. */
  scale: number
  /** How long it says that it plays. */
  stated: number
  codec: Codec | undefined
  /** How long its packets say that they play. */
  ticks: number
  /** How many samples they do play. */
  samples: number
  bytes: number
  sizes: Box | undefined
  rows: Box | undefined
  chunks: Box | undefined
}

type File = {
  bytes: Uint8Array
  numbers: Numbers
  tracks: Track[]
  byId: Map<number, Track>
  /** Of the whole file. */
  scale: number
  stated: number
  /** Of packets that say nothing of their own, by track. */
  usual: Map<number, { ticks: number; size: number }>
  /** Where the fragment begins that is read, and what packets of its track are in it where they say nothing. */
  fragment: number
  run: { track: Track | undefined; ticks: number; size: number; base: number; place: number }
  /** How long the frames of MP3 play that are found anywhere, once they were looked for. */
  mpegSeconds: number | undefined
  /** How much may still be looked at: files can be made that name the same bytes again and again. */
  left: number
}

const beginnings = ['ftyp', 'moov', 'mdat', 'free', 'skip', 'wide', 'pnot']

/** What no honest file comes near, which has no more packets than bytes, and each byte in one of them. */
const mostLooks = 4
/** No honest file has more of them. */
const mostTracks = 1000
/** Nobody talks in less. */
const leastBytesOfSecond = 750

/** The beginning and the end of the sound that encoders add is played or not: so little more than is stated is not believed. */
const mostStray = 1.01
const mostPadding = 0.25

/**
 * How long the sound of an MP4, QuickTime or 3GP file plays: as it states, or as its packets do where they are more than that, whatever
 * times they are given; players play them all. Nothing for another file, or one without sound. Looks at each packet once.
 */
export function mp4Seconds(bytes: Uint8Array): number | undefined {
  if (!beginnings.some((name) => startsWith(bytes, name, 4))) return undefined
  const numbers = numbersOf(bytes)
  const file: File = {
    bytes,
    numbers,
    tracks: [],
    byId: new Map(),
    scale: 0,
    stated: 0,
    usual: new Map(),
    fragment: 0,
    run: { track: undefined, ticks: 0, size: 0, base: 0, place: 0 },
    mpegSeconds: undefined,
    left: mostLooks * bytes.length,
  }
  eachBox(bytes, numbers, (box) => readBox(file, box))
  let seconds = 0
  for (const track of file.tracks) {
    if (!track.isAudio) continue
    countTables(file, track)
    seconds = Math.max(seconds, secondsOf(file, track))
  }
  if (file.left < 0) seconds = Math.max(seconds, bytes.length / leastBytesOfSecond)
  return seconds > 0 ? seconds : undefined
}

function secondsOf(file: File, track: Track): number {
  const { scale, ticks, stated, codec, samples } = track
  const inSeconds = (value: number, ofSecond: number): number => (ofSecond > 0 ? value / ofSecond : 0)
  const played = codec?.samplesOf ? inSeconds(samples, codec.rate || scale) : track.bytes / mostBytesOfSecond
  const frames = codec?.isMpeg === true ? (file.mpegSeconds ??= mp3Seconds(file.bytes) ?? 0) : 0
  const measured = Math.max(inSeconds(ticks, scale), played, frames)
  const length = inSeconds(stated, scale)
  if (length === 0 && measured === 0) return inSeconds(file.stated, file.scale)
  return measured > length * mostStray + mostPadding ? measured : length || measured
}

/** Numbers that are longer in the later version of a box, behind two times; all ones say that the length is not known. */
function statedIn({ u32, u64 }: Numbers, { from }: Box): { scale: number; stated: number } {
  const isLong = u32(from) >>> 24 === 1
  const scale = u32(from + (isLong ? 20 : 12))
  const stated = isLong ? u64(from + 24) : u32(from + 16)
  return { scale, stated: stated >= (isLong ? 2 ** 64 : 2 ** 32 - 1) ? 0 : stated }
}

function readBox(file: File, box: Box): void {
  const { bytes, numbers, tracks } = file
  const { u32, u64 } = numbers
  const { name, from, to } = box
  const track = tracks.at(-1)
  switch (name) {
    case 'mvhd':
      Object.assign(file, statedIn(numbers, box))
      return
    case 'mehd':
      file.stated ||= u32(from) >>> 24 === 1 ? u64(from + 4) : u32(from + 4)
      return
    case 'trex':
      if (file.usual.size < mostTracks) file.usual.set(u32(from + 4), { ticks: u32(from + 12), size: u32(from + 16) })
      return
    case 'trak':
      if (tracks.length < mostTracks) tracks.push(newTrack())
      else file.left = -1
      return
    case 'moof':
      file.fragment = from - 8
      return
    case 'tfhd':
      file.run = runOf(file, box)
      return
    case 'trun':
      countRun(file, box)
      return
    default:
  }
  if (!track) return
  switch (name) {
    case 'tkhd':
      track.id = u32(from + (u32(from) >>> 24 === 1 ? 20 : 12))
      if (file.byId.size < mostTracks && !file.byId.has(track.id)) file.byId.set(track.id, track)
      return
    case 'mdhd':
      Object.assign(track, statedIn(numbers, box))
      return
    case 'hdlr':
      track.isAudio ||= startsWith(bytes, 'soun', from + 8)
      return
    case 'entry':
      track.descriptions += 1
      track.codec ??= codecOf(nameAt(bytes, from + 4), rateOf(numbers, box))
      return
    case 'esds':
      if (track.descriptions === 1) track.codec = describedCodec(bytes, from, to) ?? track.codec
      return
    case 'alac': {
      const samples = u32(from + 4)
      if (track.descriptions === 1 && samples > 0) track.codec = { rate: u32(from + 24), samplesOf: () => samples }
      return
    }
    case 'stts':
      for (let at = from + 8; at + 8 <= Math.min(to, from + 8 + 8 * u32(from + 4)); at += 8)
        track.ticks += u32(at) * u32(at + 4)
      return
    case 'stsz':
    case 'stz2':
      track.sizes = box
      return
    case 'stsc':
      track.rows = box
      return
    case 'stco':
    case 'co64':
      track.chunks = box
      return
    default:
  }
}

const newTrack = (): Track => ({
  id: 0,
  isAudio: false,
  descriptions: 0,
  scale: 0,
  stated: 0,
  codec: undefined,
  ticks: 0,
  samples: 0,
  bytes: 0,
  sizes: undefined,
  rows: undefined,
  chunks: undefined,
})

/** In front of a point, or, in the latest version, as a number of eight bytes. */
const rateOf = ({ u16, f64 }: Numbers, { from }: Box): number =>
  u16(from + 16) === 2 ? Math.max(0, Math.round(f64(from + 40))) || 0 : u16(from + 32)

/** A packet that is not there is not played. */
function countPacket(file: File, track: Track, { place, size }: { place: number; size: number }): void {
  const there = place < 0 ? 0 : Math.min(size, file.bytes.length - place)
  file.left -= 1 + Math.max(0, there)
  if (there <= 0) return
  track.bytes += there
  track.samples += track.codec?.samplesOf?.(file.bytes, place, there) ?? 0
}

/** The packets of a track lie in chunks, of which each has as many as a row says that begins at it or before. */
function countTables(file: File, track: Track): void {
  const { sizes, rows, chunks } = track
  if (!sizes || !rows || !chunks) return
  const { u32, u64 } = file.numbers
  const sizeAt = sizesIn(file, sizes)
  const offsetBytes = chunks.name === 'co64' ? 8 : 4
  const chunkCount = Math.min(u32(chunks.from + 4), Math.floor((chunks.to - chunks.from - 8) / offsetBytes))
  const rowCount = Math.min(u32(rows.from + 4), Math.floor((rows.to - rows.from - 8) / 12))
  if (rowCount <= 0) return
  const rowAt = (row: number): number => rows.from + 8 + 12 * row
  let row = 0
  let index = 0
  for (let chunk = 0; chunk < chunkCount && file.left >= 0; chunk += 1) {
    while (row + 1 < rowCount && u32(rowAt(row + 1)) <= chunk + 1) row += 1
    const offset = chunks.from + 8 + offsetBytes * chunk
    let place = offsetBytes === 8 ? u64(offset) : u32(offset)
    for (let left = u32(rowAt(row) + 4); left > 0 && file.left >= 0; left -= 1, index += 1) {
      const size = sizeAt(index)
      if (size === undefined || place >= file.bytes.length) break
      countPacket(file, track, { place, size })
      place += size
    }
  }
}

/** How many bytes each packet has: all the same, or each as a number of four bytes, two, one or a half. */
function sizesIn(
  { bytes, numbers: { u16, u32 } }: File,
  { name, from, to }: Box,
): (index: number) => number | undefined {
  const count = u32(from + 8)
  const same = name === 'stsz' ? u32(from + 4) : 0
  const bits = name === 'stsz' ? 32 : (bytes[from + 7] ?? 0)
  return (index) => {
    if (index >= count) return undefined
    if (same > 0) return same
    const at = from + 12 + Math.floor((index * bits) / 8)
    if (at >= to) return undefined
    if (bits === 32) return u32(at)
    if (bits === 16) return u16(at)
    const byte = bytes[at] ?? 0
    return bits === 8 ? byte : index % 2 === 0 ? byte >> 4 : byte & 15
  }
}

/** What a fragment says of a track. */
function runOf({ byId, numbers: { u32, u64 }, usual, fragment }: File, { from }: Box): File['run'] {
  const flags = u32(from) & 0xffffff
  const id = u32(from + 4)
  let at = from + 8
  const next = (flag: number, bytes: number): number | undefined => {
    if ((flags & flag) === 0) return undefined
    at += bytes
    return bytes === 8 ? u64(at - 8) : u32(at - 4)
  }
  const base = next(1, 8) ?? fragment
  next(2, 4)
  const ticks = next(8, 4) ?? usual.get(id)?.ticks ?? 0
  const size = next(16, 4) ?? usual.get(id)?.size ?? 0
  const track = byId.get(id)
  return { track: track?.isAudio === true ? track : undefined, ticks, size, base, place: base }
}

function countRun(file: File, { from, to }: Box): void {
  const { u32, i32 } = file.numbers
  const { track, ticks, size } = file.run
  if (!track) return
  const flags = u32(from) & 0xffffff
  let at = from + 8
  let { place } = file.run
  if (flags & 1) {
    place = file.run.base + i32(at)
    at += 4
  }
  if (flags & 4) at += 4
  const fields = [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag)
  const sizeAt = 4 * fields.indexOf(0x200)
  for (let left = u32(from + 4); left > 0 && file.left >= 0; left -= 1) {
    if (fields.length > 0 && at >= to) break
    const own = sizeAt < 0 ? size : u32(at + sizeAt)
    track.ticks += flags & 0x100 ? u32(at) : ticks
    countPacket(file, track, { place, size: own })
    place += own
    at += 4 * fields.length
  }
  file.run.place = place
}
