/** Numbers from 0 to below 1 that look random and are the same each time (mulberry32). */
export function createRandom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export const oneOf = <Item>(random: () => number, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item

/** A whole number from `least` to `most`, small ones more often: most calls are short and a few are long. */
export const longTailed = (random: () => number, least: number, most: number): number =>
  Math.round(least * (most / least) ** (random() ** 1.5))

export const randomLetters = (random: () => number, count: number): string => {
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  return Array.from({ length: count }, () => letters[Math.floor(random() * letters.length)]).join('')
}

export const minutesBefore = (now: Date, minutes: number): Date => new Date(now.getTime() - minutes * 60_000)
export const daysBefore = (now: Date, days: number): Date => minutesBefore(now, days * 24 * 60)
