import type { Citation } from '#relay/chat/events.ts'

/** Citations as grounding of the answer; offsets count bytes here, not characters. */
export function toGrounding(citations: Citation[], text: string) {
  const offset = (characters: number): number => Buffer.byteLength(text.slice(0, characters))
  return {
    groundingChunks: citations.map(({ url, title }) => ({ web: { uri: url, title: title ?? url } })),
    groundingSupports: citations.flatMap(({ startIndex, endIndex }, index) => {
      if (startIndex === undefined || endIndex === undefined) return []
      const segment = {
        startIndex: offset(startIndex),
        endIndex: offset(endIndex),
        text: text.slice(startIndex, endIndex),
      }
      return [{ segment, groundingChunkIndices: [index] }]
    }),
  }
}
