import type { Tone } from '../../components/status.tsx'

/** How dear a group is, by its ratio of the list price. */
export const ratioTone = (ratio: number): Tone =>
  ratio > 5 ? 'bad' : ratio > 3 ? 'warning' : ratio > 1 ? 'accent' : 'good'
