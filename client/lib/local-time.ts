import { formatTime } from './format.ts'

/** `2026-11-21T14:03`, in the reader's zone, as a date-time field wants it. */
export const toLocalInput = (time: Date): string => formatTime(time).slice(0, 16).replace(' ', 'T')

/** Null for what is empty or no time. */
export function fromLocalInput(text: string): Date | null {
  const time = new Date(text)
  return text === '' || Number.isNaN(time.getTime()) ? null : time
}
