/** How far trials of one load at one target were apart, as a share of the middle one. */
export type Spread = { what: string; share: number }

const busiest = 0.5
const widest = 0.3

export function spreadOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return sorted.length < 2 ? 0 : ((sorted.at(-1) ?? 0) - (sorted[0] ?? 0)) / middle
}

/** Why the figures of a run are not to be quoted: others used the machine before it, or its trials disagree. */
export function noiseOf({
  load,
  cores,
  spreads,
}: {
  load: number
  cores: number
  spreads: readonly Spread[]
}): string[] {
  const percent = (share: number): string => `${Math.round(share * 100)} %`
  return [
    ...(load > cores * busiest
      ? [`the machine was busy before the run: load ${load.toFixed(1)} on ${cores} cores`]
      : []),
    ...spreads
      .filter(({ share }) => share > widest)
      .map(({ what, share }) => `${what}: trials are ${percent(share)} apart`),
  ]
}
