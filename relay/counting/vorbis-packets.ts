/** Bits of Vorbis, lowest first. */
function bitsAt(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let bit = count - 1; bit >= 0; bit -= 1)
    value = value * 2 + (((bytes[(at + bit) >> 3] ?? 0) >> ((at + bit) & 7)) & 1)
  return value
}

const modeBits = 41
const mostModes = 64

/**
 * Which modes have long blocks. They stand at the end of the setup, in front of one bit, and their number in front of them; what comes
 * before takes a decoder to read, so that they are read from behind, as ffmpeg does.
 */
function longModes(setup: Uint8Array): boolean[] {
  let end = setup.length
  while (end > 0 && setup[end - 1] === 0) end -= 1
  let at = end * 8 - 1
  while (at > 0 && bitsAt(setup, at, 1) === 0) at -= 1
  const modes: boolean[] = []
  let found: boolean[] = []
  while (modes.length < mostModes && at >= modeBits + 6) {
    at -= modeBits
    const isMode = bitsAt(setup, at + 1, 16) === 0 && bitsAt(setup, at + 17, 16) === 0 && bitsAt(setup, at + 33, 8) < 64
    if (!isMode) break
    modes.unshift(bitsAt(setup, at, 1) === 1)
    if (bitsAt(setup, at - 6, 6) + 1 === modes.length) found = [...modes]
  }
  return found
}

/** How many samples each packet adds: a quarter of its block and of the one before. `sizes`: of short and long blocks. */
export function vorbisSamples(setup: Uint8Array, sizes: readonly [number, number]) {
  const modes = longModes(setup)
  const numberBits = modes.length === 0 ? 0 : 32 - Math.clz32(modes.length - 1)
  let before = 0
  return (bytes: Uint8Array, at: number): number => {
    const first = bytes[at] ?? 1
    if ((first & 1) === 1) return 0
    const isLong = modes[(first >> 1) & ((1 << numberBits) - 1)]
    if (isLong === undefined) return 0
    const size = sizes[isLong ? 1 : 0]
    const samples = before === 0 ? 0 : (before + size) / 4
    before = size
    return samples
  }
}
