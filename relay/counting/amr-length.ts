import { startsWith } from './starts-with.ts'

/** A codec of telephones: how many bytes follow the first one of a frame, by the kind that it names, and what each frame plays. */
export type Amr = { sizes: readonly number[]; samples: number; rate: number }

export const amrNarrow: Amr = { sizes: [12, 13, 15, 17, 19, 20, 26, 31, 5], samples: 160, rate: 8000 }
export const amrWide: Amr = { sizes: [17, 23, 32, 36, 40, 46, 50, 58, 60, 5], samples: 320, rate: 16_000 }

/** How many samples the frames play that stand one behind the other; one without a size is a silence. */
export function amrSamples(
  bytes: Uint8Array,
  { from, to }: { from: number; to: number },
  { sizes, samples }: Amr,
): number {
  let played = 0
  for (let at = from; at < to; at += 1 + (sizes[((bytes[at] ?? 0) >> 3) & 15] ?? 0)) played += samples
  return played
}

/** How long an AMR file plays: as long as its frames do, for it states nothing. Nothing for another file. Looks at each frame once. */
export function amrSeconds(bytes: Uint8Array): number | undefined {
  const forms = [
    ['#!AMR\n', amrNarrow],
    ['#!AMR-WB\n', amrWide],
  ] as const
  const [head, codec] = forms.find(([text]) => startsWith(bytes, text)) ?? []
  return codec && amrSamples(bytes, { from: head?.length ?? 0, to: bytes.length }, codec) / codec.rate
}
