/** Tasks that one request asks after. */
export const mostAsked = 200
/** Channels that are asked at the same time. */
export const mostPlaces = 8

/** Runs over the items, so many at a time. */
export async function inParts<Item>(items: Item[], most: number, run: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
}
