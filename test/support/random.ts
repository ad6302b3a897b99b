/** The same figures for the same seed. */
export function randomOf(seed: number) {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
  return {
    boolean: (share: number) => next() < share,
    below: (most: number) => Math.floor(next() * most),
    pick: <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item,
  }
}
