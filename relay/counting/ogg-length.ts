import { startsWith } from './starts-with.ts'

/** Opus counts in 48,000ths of a second, whatever it was recorded at. */
const opusRate = 48_000

/** Packets of an Opus stream play so many samples each, by the mode that their first byte names. */
const opusSamples = { silk: [480, 960, 1920, 2880], hybrid: [480, 960], celt: [120, 240, 480, 960] } as const

function packetSamples(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  const mode = first >> 3
  const samples =
    mode < 12 ? opusSamples.silk[mode & 3] : mode < 16 ? opusSamples.hybrid[mode & 1] : opusSamples.celt[mode & 3]
  const frames = [1, 2, 2, (bytes[at + 1] ?? 0) & 63][first & 3] ?? 1
  return (samples ?? 0) * frames
}

type Track = {
  rate: number
  isOpus: boolean
  /** Samples of Opus that are not played. */ skipped: number
  packets: number
  position: number
}

/** What a stream begins with: its codec and its rate. Nothing for video. */
function trackAt(bytes: Uint8Array, at: number): Track | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const track = { rate: opusRate, isOpus: false, skipped: 0, packets: 0, position: 0 }
  if (at + 40 <= bytes.length && startsWith(bytes, '\u0001vorbis', at))
    return { ...track, rate: view.getUint32(at + 12, true) }
  if (at + 40 <= bytes.length && startsWith(bytes, 'Speex   ', at))
    return { ...track, rate: view.getUint32(at + 36, true) }
  if (at + 12 > bytes.length || !startsWith(bytes, 'OpusHead', at)) return undefined
  return { ...track, isOpus: true, skipped: view.getUint16(at + 10, true) }
}

/** Of Opus by its packets, but for the last, which may be played in part; of others by where they say that they are. */
function secondsOf({ rate, isOpus, skipped, packets, position }: Track): number {
  const samples = isOpus ? packets - skipped - 2880 : position
  return rate > 0 ? Math.max(0, samples) / rate : 0
}

const longest = (tracks: Map<number, Track>): number => Math.max(0, ...[...tracks.values()].map(secondsOf))

/**
 * How long an Ogg file plays at least: all that were put behind each other, and Opus by its packets, whatever its pages say. Nothing for
 * another file. Looks at each page once.
 */
export function oggSeconds(bytes: Uint8Array): number | undefined {
  if (!startsWith(bytes, 'OggS')) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
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
      if (track.isOpus) countPackets(track, { bytes, body, lengths, isContinued: (flags & 1) !== 0 })
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
    if (!isBegun && length > 0 && !startsWith(bytes, 'OpusTags', place)) track.packets += packetSamples(bytes, place)
    isBegun = length === 255
    place += length
  }
}
