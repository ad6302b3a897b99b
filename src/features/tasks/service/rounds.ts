/** Tasks that one request asks after. */
export const mostAsked = 200
/** Channels that are asked at the same time. */
const mostPlaces = 8

/** Runs over the items, which are each a channel's, so many at a time. */
export async function inParts<Item>(items: Item[], run: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(mostPlaces, items.length) }, worker))
}
