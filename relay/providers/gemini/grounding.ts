import type { Citation } from '#relay/chat/events.ts'
import type { SearchResult, WebSearch } from '#relay/chat/hosted/types.ts'
import { type Json, listOf, numberOf, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'

/** The vendor counts bytes of UTF-8, callers count characters. */
const toCharacters = (text: string, bytes: number | undefined): number | undefined =>
  bytes === undefined || bytes < 0 ? undefined : Buffer.from(text, 'utf8').subarray(0, bytes).toString('utf8').length

type Place = { text: string; before: number }

const isSpoken = (part: Json): boolean => part['thought'] !== true && typeof part['text'] === 'string'

/** The text of a part, and how much of the answer's text stands before it; without parts all text is one. */
function placeOf(partIndex: number, text: string, parts: readonly Json[]): Place {
  const part = partIndex > 0 ? parts[partIndex] : undefined
  if (!part || !isSpoken(part)) return { text, before: 0 }
  const earlier = parts.slice(0, partIndex).filter(isSpoken)
  return {
    text: textOf(part['text']) ?? '',
    before: earlier.reduce((sum, each) => sum + String(each['text']).length, 0),
  }
}

const sourcesOf = (grounding: Json | undefined): (SearchResult | undefined)[] =>
  listOf(grounding?.['groundingChunks']).map((chunk) => {
    const web = recordOf(recordOf(chunk)?.['web'])
    const url = wordOf(web?.['uri'])
    return url === undefined ? undefined : { url, title: wordOf(web?.['title']) }
  })

/** The sources of an answer, each with the stretch of `text` that it supports; `parts` where the answer is whole. */
export function citationsOf(metadata: unknown, text: string, parts: readonly Json[] = []): Citation[] {
  const grounding = recordOf(metadata)
  const sources = sourcesOf(grounding)
  return recordsOf(grounding?.['groundingSupports']).flatMap((support) => {
    const segment = recordOf(support['segment'])
    const place = placeOf(numberOf(segment?.['partIndex']) ?? 0, text, parts)
    const at = (bytes: number | undefined): number | undefined => {
      const characters = toCharacters(place.text, bytes)
      return characters === undefined ? undefined : place.before + characters
    }
    const startIndex = at(numberOf(segment?.['startIndex']) ?? 0)
    const endIndex = at(numberOf(segment?.['endIndex']))
    return listOf(support['groundingChunkIndices']).flatMap((index): Citation[] => {
      const source = typeof index === 'number' ? sources[index] : undefined
      return source ? [{ ...source, citedText: textOf(segment?.['text']), startIndex, endIndex }] : []
    })
  })
}

/** "For billing purposes, we ignore the empty web search queries when counting unique queries." */
export const queriesIn = (metadata: unknown): string[] => [
  ...new Set(listOf(recordOf(metadata)?.['webSearchQueries']).flatMap((query) => wordOf(query) ?? [])),
]

/** Whether places on a map ground the answer, which is charged by the answer like a search. */
export const findsPlaces = (metadata: unknown): boolean =>
  recordsOf(recordOf(metadata)?.['groundingChunks']).some((chunk) => recordOf(chunk['maps']) !== undefined)

/** One search a query. Which of them found what is not reported, so all of it stands at the first. */
export function searchesOf(metadata: unknown, queries: readonly string[], newId: () => string): WebSearch[] {
  const results = sourcesOf(recordOf(metadata)).filter((source) => source !== undefined)
  return queries.map((query, index) => ({ id: newId(), queries: [query], results: index === 0 ? results : [] }))
}

/**
 * What is charged: models before the third generation by the answer that searched at all, later ones by the query
 * (https://ai.google.dev/gemini-api/docs/pricing, grounding with Google Search).
 */
export function chargedSearches(queries: number, model: unknown, places: boolean): number {
  const searches = queries > 0 && /^gemini-[12](\b|\.)/.test(textOf(model) ?? '') ? 1 : queries
  return searches + (places ? 1 : 0)
}
