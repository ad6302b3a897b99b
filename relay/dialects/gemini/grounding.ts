import type { Citation } from '#relay/chat/events.ts'
import type { WebSearch } from '#relay/chat/hosted/types.ts'

/** A text of the answer, with where it stands: offsets count in it, in bytes. */
export type GroundedText = { text: string; partIndex: number }

type Segment = { partIndex?: number; startIndex: number; endIndex: number; text: string }

/** The stretch of the complete answer's text as one of the part it lies in. */
function segmentOf(start: number, end: number, texts: readonly GroundedText[]): Segment | undefined {
  let before = 0
  for (const { text, partIndex } of texts) {
    const [from, to] = [start - before, end - before]
    if (from < text.length && to <= text.length) {
      const offset = (characters: number): number => Buffer.byteLength(text.slice(0, characters))
      const at = { startIndex: offset(from), endIndex: offset(to), text: text.slice(from, to) }
      return partIndex === 0 ? at : { partIndex, ...at }
    }
    before += text.length
  }
  return undefined
}

/** Searches and sources as grounding of the answer; sources of one stretch stand together, each once. */
export function toGrounding(
  { citations, searches }: { citations: readonly Citation[]; searches: readonly WebSearch[] },
  texts: readonly GroundedText[],
) {
  const found = [...searches.flatMap(({ results }) => results ?? []), ...citations]
  const titles = new Map<string, string | undefined>()
  for (const { url, title } of found) titles.set(url, titles.get(url) ?? title)
  const places = new Map([...titles.keys()].map((url, index) => [url, index]))
  const supports = new Map<string, { segment: Segment; groundingChunkIndices: number[] }>()
  for (const { startIndex, endIndex, url } of citations) {
    const hasPlace = startIndex !== undefined && endIndex !== undefined
    const segment = hasPlace ? segmentOf(startIndex, endIndex, texts) : undefined
    const chunk = places.get(url)
    if (segment === undefined || chunk === undefined) continue
    const key = `${startIndex} ${endIndex}`
    const known = supports.get(key) ?? { segment, groundingChunkIndices: [] }
    if (!known.groundingChunkIndices.includes(chunk)) known.groundingChunkIndices.push(chunk)
    supports.set(key, known)
  }
  const queries = searches.flatMap((search) => search.queries)
  return {
    ...(queries.length === 0 ? {} : { webSearchQueries: queries }),
    groundingChunks: [...titles].map(([uri, title]) => ({ web: { uri, title: title ?? uri } })),
    groundingSupports: [...supports.values()],
  }
}
