import type { Citation } from '#relay/chat/events.ts'
import { listOf, numberOf, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'

/** The vendor counts bytes of UTF-8, callers count characters. */
const toCharacters = (text: string, bytes: number | undefined): number | undefined =>
  bytes === undefined || bytes < 0 ? undefined : Buffer.from(text, 'utf8').subarray(0, bytes).toString('utf8').length

/** The sources of an answer, each with the stretch of `text` that it supports. */
export function citationsOf(metadata: unknown, text: string): Citation[] {
  const grounding = recordOf(metadata)
  const chunks = listOf(grounding?.['groundingChunks']).map((chunk) => recordOf(recordOf(chunk)?.['web']))
  return recordsOf(grounding?.['groundingSupports']).flatMap((support) => {
    const segment = recordOf(support['segment'])
    const startIndex = toCharacters(text, numberOf(segment?.['startIndex']) ?? 0)
    const endIndex = toCharacters(text, numberOf(segment?.['endIndex']))
    return listOf(support['groundingChunkIndices']).flatMap((index): Citation[] => {
      const source = typeof index === 'number' ? chunks[index] : undefined
      const url = wordOf(source?.['uri'])
      if (url === undefined) return []
      return [{ url, title: wordOf(source?.['title']), citedText: textOf(segment?.['text']), startIndex, endIndex }]
    })
  })
}

export const searchesIn = (metadata: unknown): number => listOf(recordOf(metadata)?.['webSearchQueries']).length
