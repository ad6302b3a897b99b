export const pattern = 'regex:bomb.{0,200}how.{0,200}card.{0,200}zebra'
/** Fits the pattern almost, from every second word on: a second of work. */
const words = ['bomb', 'how', 'bomb', 'card', 'gift', 'how', 'make', 'card', 'the', 'bomb', 'card']
export const almost = Array.from(
  { length: 6000 },
  (_, index) => words[(index * index + 3 * index) % words.length],
).join(' ')
