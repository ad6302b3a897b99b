import { type Coding, pcm, secondsOf } from './coded-length.ts'
import { startsWith } from './starts-with.ts'
import { viewOf } from './view-of.ts'

/** Bits of a sample by the name of its form. Those of the others stand in the header. */
const bitsOf: Readonly<Record<string, number>> = {
  'raw ': 8,
  alaw: 8,
  ALAW: 8,
  ulaw: 8,
  ULAW: 8,
  in24: 24,
  in32: 32,
  fl32: 32,
  FL32: 32,
  fl64: 64,
  FL64: 64,
}

function codingOf(form: string, channels: number, bits: number): Coding | undefined {
  if (channels === 0) return undefined
  if (['NONE', 'sowt', 'twos'].includes(form)) return pcm(channels, bits)
  if (form === 'ima4') return { channels, bits: 4, block: 34 * channels, head: 2 * channels, first: 0 }
  if (form === 'GSM ') return { channels: 1, bits: 1, block: 33, head: 33, first: 160 }
  if (form === 'G722') return { channels, bits: 4, block: channels, head: 0, first: 0 }
  const own = bitsOf[form]
  return own === undefined ? undefined : pcm(channels, own)
}

type Common = { rate: number; coding: Coding | undefined; samples: number }

/** A rate has 80 bits: its exponent, and digits of which the first 32 are more than any rate has. */
function commonAt(view: DataView, at: number, isPacked: boolean): Common {
  const rate = view.getUint32(at + 10) * 2 ** ((view.getUint16(at + 8) & 0x7fff) - 16_383 - 31)
  const form = isPacked ? String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at + 18, 4)) : 'NONE'
  return { rate, coding: codingOf(form, view.getUint16(at), view.getUint16(at + 6)), samples: view.getUint32(at + 2) }
}

/**
 * How long an AIFF file plays: as long as its data does, however many samples it says that it has. Nothing for another file, or where
 * it has no data. Looks at each chunk once.
 */
export function aiffSeconds(bytes: Uint8Array): number | undefined {
  const isPacked = startsWith(bytes, 'AIFC', 8)
  if (!startsWith(bytes, 'FORM') || !(isPacked || startsWith(bytes, 'AIFF', 8))) return undefined
  const view = viewOf(bytes)
  /** The first and the last, as decoders take either. */
  let commons: readonly Common[] = []
  let data = 0
  for (let at = 12; at + 8 <= bytes.length;) {
    const start = at + 8
    let length = view.getUint32(at + 4)
    if (startsWith(bytes, 'COMM', at) && start + (isPacked ? 22 : 18) <= bytes.length) {
      const common = commonAt(view, start, isPacked)
      commons = [commons[0] ?? common, common]
    }
    if (startsWith(bytes, 'SSND', at)) {
      const left = bytes.length - start
      if (length === 0 || length > left) length = left
      data += Math.max(0, length - 8)
    }
    at = start + length + (length % 2)
  }
  if (data === 0) return undefined
  const seconds = commons.map(({ rate, coding, samples }) =>
    secondsOf({ data, rate, coding, stated: coding ? undefined : samples }),
  )
  return seconds.length === 0 ? undefined : Math.max(...seconds)
}

/** Bits of a sample by Sun's number of its form. */
const sunBits: Readonly<Record<number, number>> = {
  1: 8,
  2: 8,
  3: 16,
  4: 24,
  5: 32,
  6: 32,
  7: 64,
  23: 4,
  24: 4,
  25: 3,
  26: 5,
  27: 8,
}

/** How long an AU file plays: to its end, which decoders read to whatever length it states. Nothing for another file. */
export function auSeconds(bytes: Uint8Array): number | undefined {
  if (bytes.length < 24 || !startsWith(bytes, '.snd')) return undefined
  const view = viewOf(bytes)
  const channels = view.getUint32(20)
  const bits = sunBits[view.getUint32(12)]
  const data = Math.max(0, bytes.length - Math.max(24, view.getUint32(4)))
  // A sample of each channel takes no full bytes in some forms: eight of them do.
  const coding: Coding | undefined =
    bits === undefined || channels === 0 ? undefined : { channels, bits, block: bits * channels, head: 0, first: 0 }
  return data === 0 ? undefined : secondsOf({ data, rate: view.getUint32(16), coding })
}
