import { frameSeconds } from './flac-length.ts'
import { opusPacketSamples, opusRate } from './opus-packets.ts'
import { startsWith } from './starts-with.ts'
import { viewOf } from './view-of.ts'
import { vorbisSamples } from './vorbis-packets.ts'

type Track = {
  rate: number
  position: number
  /** How many samples a packet plays that begins here; nothing where only pages say it. */
  samplesOf: ((bytes: Uint8Array, at: number) => number) | undefined
  samples: number
  /** At most so many of them are left out at the beginning and at the end. */
  unplayed: number
  /** Until the packet has come by which those of Vorbis are read. */
  vorbis: { sizes: readonly [number, number]; setup: Uint8Array[] } | undefined
}

/** What a stream begins with: its codec and its rate. Nothing for video. */
function trackAt(bytes: Uint8Array, at: number): Track | undefined {
  const view = viewOf(bytes)
  const track = { position: 0, samplesOf: undefined, samples: 0, unplayed: 0, vorbis: undefined }
  if (at + 40 <= bytes.length && startsWith(bytes, '\u0001vorbis', at)) {
    const exponents = bytes[at + 28] ?? 0
    const sizes = [1 << (exponents & 15), 1 << (exponents >> 4)] as const
    return { ...track, rate: view.getUint32(at + 12, true), vorbis: { sizes, setup: [] } }
  }
  if (at + 68 <= bytes.length && startsWith(bytes, 'Speex   ', at)) {
    const samples = (160 << (view.getUint32(at + 40, true) & 3)) * view.getUint32(at + 64, true)
    // One packet is comments.
    return { ...track, rate: view.getUint32(at + 36, true), samplesOf: () => samples, unplayed: 2 * samples }
  }
  if (at + 30 <= bytes.length && startsWith(bytes, '\u007fFLAC', at)) {
    const rate = view.getUint32(at + 27) >>> 12
    return { ...track, rate, samplesOf: (from, place) => frameSeconds(from, place, rate) * rate }
  }
  if (at + 12 > bytes.length || !startsWith(bytes, 'OpusHead', at)) return undefined
  const unplayed = view.getUint16(at + 10, true) + 2880
  return { ...track, rate: opusRate, samplesOf: opusPacketSamples, unplayed }
}

/** By its packets, but for the last, which may be played in part; or by where it says that they are, if that is more. */
function secondsOf({ rate, samplesOf, samples, unplayed, position }: Track): number {
  const played = samplesOf === opusPacketSamples ? samples - unplayed : Math.max(position, samples - unplayed)
  return rate > 0 ? Math.max(0, played) / rate : 0
}

/** One by one: a file may be made to name more of them than a call takes arguments. */
function longest(tracks: Map<number, Track>): number {
  let seconds = 0
  for (const track of tracks.values()) seconds = Math.max(seconds, secondsOf(track))
  return seconds
}

/**
 * How long an Ogg file plays at least: all that were put behind each other, and by their packets, whatever their pages say. Nothing for
 * another file. Looks at each page once.
 */
export function oggSeconds(bytes: Uint8Array): number | undefined {
  if (!startsWith(bytes, 'OggS')) return undefined
  const view = viewOf(bytes)
  let seconds = 0
  let tracks = new Map<number, Track>()
  /** The streams of one file begin beside each other; what begins later is another one. */
  let begins = true
  for (let at = 0; at + 27 <= bytes.length && startsWith(bytes, 'OggS', at);) {
    const flags = view.getUint8(at + 5)
    const serial = view.getUint32(at + 14, true)
    const lengths = bytes.subarray(at + 27, at + 27 + view.getUint8(at + 26))
    const body = at + 27 + lengths.length
    const isFirst = (flags & 2) !== 0
    if (isFirst && !begins) {
      seconds += longest(tracks)
      tracks = new Map()
    }
    begins = isFirst
    const track = isFirst ? trackAt(bytes, body) : tracks.get(serial)
    if (track && isFirst) tracks.set(serial, track)
    else if (track) {
      track.position = Math.max(track.position, Number(view.getBigInt64(at + 6, true)))
      countPackets(track, { bytes, body, lengths, isContinued: (flags & 1) !== 0 })
    }
    at = body + lengths.reduce((sum, length) => sum + length, 0)
  }
  return seconds + longest(tracks)
}

type Page = { bytes: Uint8Array; body: number; lengths: Uint8Array; isContinued: boolean }

function countPackets(track: Track, { bytes, body, lengths, isContinued }: Page): void {
  let place = body
  let isBegun = isContinued
  for (const length of lengths) {
    // The last page of a file that was cut off has not all that it lists.
    if (place >= bytes.length) break
    if (track.vorbis) readSetup(track, bytes.subarray(place, place + length), { isBegun, isEnded: length < 255 })
    else if (!isBegun && length > 0 && !startsWith(bytes, 'OpusTags', place))
      track.samples += track.samplesOf?.(bytes, place) ?? 0
    isBegun = length === 255
    place += length
  }
}

/** The third packet of Vorbis says how the later ones are read. */
function readSetup(
  track: Track,
  piece: Uint8Array,
  { isBegun, isEnded }: { isBegun: boolean; isEnded: boolean },
): void {
  const { vorbis } = track
  if (!vorbis) return
  if (!isBegun) vorbis.setup = []
  if (startsWith(piece, '\u0005vorbis') || vorbis.setup.length > 0) vorbis.setup.push(piece)
  if (!isEnded || vorbis.setup.length === 0) return
  track.samplesOf = vorbisSamples(Buffer.concat(vorbis.setup), vorbis.sizes)
  track.unplayed = vorbis.sizes[1]
  track.vorbis = undefined
}
