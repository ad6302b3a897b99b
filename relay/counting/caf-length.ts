import { type Coding, pcm, secondsOf } from './coded-length.ts'
import { mp3Seconds } from './mp3-length.ts'
import { opusPacketSamples } from './opus-packets.ts'
import { startsWith } from './starts-with.ts'
import { viewOf } from './view-of.ts'

type Description = {
  rate: number
  form: string
  bytesOfPacket: number
  samplesOfPacket: number
  channels: number
  bits: number
}

/** What decoders make of the bytes, whatever the header says of its packets. Nothing where they stand in a table. */
function codingOf({ form, channels, bits }: Description): Coding | undefined {
  if (channels === 0) return undefined
  if (form === 'lpcm') return pcm(channels, bits)
  if (form === 'ulaw' || form === 'alaw') return pcm(channels, 8)
  if (form === 'ima4') return { channels, bits: 4, block: 34 * channels, head: 2 * channels, first: 0 }
  if (form === 'agsm') return { channels: 1, bits: 1, block: 33, head: 33, first: 160 }
  return undefined
}

/** AAC plays no fewer samples of a packet, whatever a header says. */
const leastSamples: Readonly<Record<string, number>> = { 'aac ': 1024, aach: 2048, aacp: 2048 }

function descriptionAt(bytes: Uint8Array, at: number): Description {
  const view = viewOf(bytes)
  const rate = view.getFloat64(at)
  return {
    rate: Number.isFinite(rate) && rate > 0 ? rate : 0,
    form: String.fromCharCode(...bytes.subarray(at + 8, at + 12)),
    bytesOfPacket: view.getUint32(at + 16),
    samplesOfPacket: view.getUint32(at + 20),
    channels: view.getUint32(at + 24),
    bits: view.getUint32(at + 28),
  }
}

type Place = { from: number; to: number }

/** Where a table of packets begins, behind four numbers about all of them. */
const tableHead = 24

/** A number takes no more bytes, seven bits in each. */
const mostNumberBytes = 5

/** Priming and padding, which are left out of what is played, come to a few packets. */
const mostUnplayed = 8192

/** What the packets play: each has its size, its number of samples or both in the table, where the header has none for all of them. */
function packetSamples(bytes: Uint8Array, { data, table }: { data: Place; table: Place }, about: Description): number {
  let at = table.from + tableHead
  const next = (): number => {
    const end = Math.min(table.to, at + mostNumberBytes)
    let value = 0
    for (let isLast = false; !isLast && at < end; at += 1) {
      const byte = bytes[at] ?? 0
      isLast = byte < 0x80
      value = value * 128 + (byte & 0x7f)
    }
    return value
  }
  let samples = 0
  let place = data.from
  while (at < table.to && place < data.to) {
    const size = about.bytesOfPacket || next()
    const stated = about.samplesOfPacket || next()
    const least = about.form === 'opus' ? opusPacketSamples(bytes, place) : (leastSamples[about.form] ?? 0)
    if (size > 0) samples += Math.max(stated, least)
    place += size
  }
  const valid = Number(viewOf(bytes).getBigInt64(table.from + 8))
  return valid > 0 ? Math.min(samples, Math.max(valid, samples - mostUnplayed)) : samples
}

/**
 * How long a CAF file plays: as long as its data does, or the packets of its table, and not less than any codec takes for so many bytes.
 * Nothing for another file, or where it has no data. Looks at each chunk and each packet once.
 */
export function cafSeconds(bytes: Uint8Array): number | undefined {
  if (!startsWith(bytes, 'caff')) return undefined
  const view = viewOf(bytes)
  let about: Description | undefined
  let data: Place | undefined
  let table: Place | undefined
  for (let at = 8; at + 12 <= bytes.length;) {
    const start = at + 12
    const length = Number(view.getBigInt64(at + 4))
    // What is open, as it is recorded, goes on to the end of the file.
    const to = length < 0 ? bytes.length : Math.min(bytes.length, start + length)
    if (startsWith(bytes, 'desc', at) && to - start >= 32) about = descriptionAt(bytes, start)
    if (startsWith(bytes, 'data', at) && to - start > 4) data = { from: start + 4, to }
    if (startsWith(bytes, 'pakt', at) && to - start > tableHead) table = { from: start, to }
    at = to
  }
  if (!about || !data) return undefined
  const { rate, bytesOfPacket, samplesOfPacket } = about
  const size = data.to - data.from
  const coding = codingOf(about)
  if (about.form === '.mp3') return mp3Seconds(bytes.subarray(data.from, data.to))
  const packed = table ? packetSamples(bytes, { data, table }, about) : 0
  const fixed = bytesOfPacket > 0 ? Math.ceil(size / bytesOfPacket) * samplesOfPacket : 0
  return secondsOf({ data: size, rate, coding, stated: coding ? undefined : Math.max(packed, fixed) })
}
