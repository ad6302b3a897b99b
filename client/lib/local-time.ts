import { formatTime } from './format.ts'

/** `2026-11-21T14:03`, in the reader's zone, as a date-time field wants it. */
export const toLocalInput = (time: Date): string => formatTime(time).slice(0, 16).replace(' ', 'T')

/** Null for what is empty or no time. */
export function fromLocalInput(text: string): Date | null {
  const time = new Date(text)
  return text === '' || Number.isNaN(time.getTime()) ? null : time
}

/** A full hour on the reader's clock, at least half an hour ahead: it is still to come when the form that offers it is sent. */
export function comingHour(now: Date): Date {
  const time = new Date(now.getTime() + 90 * 60_000)
  time.setMinutes(0, 0, 0)
  return time
}
