/** Opus counts in 48,000ths of a second, whatever it was recorded at. */
export const opusRate = 48_000

/** Packets of an Opus stream play so many samples each, by the mode that their first byte names. */
const opusSamples = { silk: [480, 960, 1920, 2880], hybrid: [480, 960], celt: [120, 240, 480, 960] } as const

export function opusPacketSamples(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  const mode = first >> 3
  const samples =
    mode < 12 ? opusSamples.silk[mode & 3] : mode < 16 ? opusSamples.hybrid[mode & 1] : opusSamples.celt[mode & 3]
  const frames = [1, 2, 2, (bytes[at + 1] ?? 0) & 63][first & 3] ?? 1
  return (samples ?? 0) * frames
}
