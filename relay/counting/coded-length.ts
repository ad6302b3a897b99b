/**
 * How a file's bytes hold its samples: in blocks of so many bytes, of which the head takes some and holds the first samples of each
 * channel, and each later one takes so many bits.
 */
export type Coding = { channels: number; bits: number; block: number; head: number; first: number }

/** Samples that stand one behind the other, each in as many bytes as its bits need. Nothing where it has none. */
export function pcm(channels: number, bits: number): Coding | undefined {
  const bytes = Math.ceil(bits / 8)
  return bytes === 0 ? undefined : { channels, bits: 8 * bytes, block: bytes * channels, head: 0, first: 0 }
}

const samplesIn = (bytes: number, { channels, bits, head, first }: Coding): number =>
  bytes < head ? 0 : first + Math.floor(((bytes - head) * 8) / (bits * channels))

/** What is played of the last block may be less than is in it. No encoder makes larger ones, whatever a header says. */
const largestBlock = 4096

/** No codec that is not known here takes more than DTS does, 1536 kbit/s, so that its bytes play so long at least. */
export const mostBytesOfSecond = 192_000

/** By its bytes, and in the last block by what the file states; by what it states alone where the codec is not known, and not less than any codec takes. */
export function secondsOf(given: {
  data: number
  rate: number
  coding: Coding | undefined
  /** How many samples the file says that it plays. */ stated?: number | undefined
}): number {
  const { data, rate, coding, stated } = given
  if (!coding) return Math.max(rate > 0 ? (stated ?? 0) / rate : 0, data / mostBytesOfSecond)
  if (rate === 0) return 0
  const block = coding.block > 0 && coding.block >= coding.head ? coding.block : Math.max(coding.head, largestBlock)
  const most = Math.floor(data / block) * samplesIn(block, coding) + samplesIn(data % block, coding)
  const least = most - samplesIn(Math.min(block, largestBlock), coding)
  return Math.min(most, Math.max(least, stated || most)) / rate
}
