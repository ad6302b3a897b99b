/** Up to a second, three, five, and beyond: green, lime, yellow, red. */
const limitsMs = [1000, 3000, 5000]

/** How slow a channel answers, in four steps. */
export function responseStep(milliseconds: number): 0 | 1 | 2 | 3 {
  const step = limitsMs.findIndex((limit) => milliseconds <= limit)
  return (step < 0 ? 3 : step) as 0 | 1 | 2 | 3
}
