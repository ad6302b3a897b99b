const longestQuery = 3000

/** Names in portions whose questions fit into an address. */
export function chunksOf(names: readonly string[]): string[][] {
  const chunks: string[][] = []
  let length = Infinity
  for (const name of names) {
    const size = encodeURIComponent(JSON.stringify(name)).length + 3
    if (length + size > longestQuery) {
      chunks.push([])
      length = 0
    }
    chunks.at(-1)?.push(name)
    length += size
  }
  return chunks
}
