import type { Citation, ResponsePart } from './events.ts'

/** A citation whose offsets count from another place. */
export const shifted = (citation: Citation, by: number): Citation => ({
  ...citation,
  ...(citation.startIndex === undefined ? {} : { startIndex: Math.max(0, citation.startIndex + by) }),
  ...(citation.endIndex === undefined ? {} : { endIndex: Math.max(0, citation.endIndex + by) }),
})

/** Puts each source at the part of text in which what it supports ends; one without a place at the last. */
export function placeCitations(parts: readonly ResponsePart[], citations: readonly Citation[]): void {
  const texts: { part: Extract<ResponsePart, { type: 'text' }>; end: number }[] = []
  for (const part of parts) {
    if (part.type === 'text') texts.push({ part, end: (texts.at(-1)?.end ?? 0) + part.text.length })
  }
  for (const citation of citations) {
    const { endIndex } = citation
    const at = texts.find(({ end }) => endIndex !== undefined && endIndex <= end) ?? texts.at(-1)
    if (at) (at.part.citations ??= []).push(citation)
  }
}

type Stretch = { text: string; citations: Citation[] }

/** Not within a character that takes two units. */
const fullCharacter = (text: string, index: number): number =>
  /[\uD800-\uDBFF]/.test(text[index - 1] ?? '') && /[\uDC00-\uDFFF]/.test(text[index] ?? '') ? index + 1 : index

/**
 * A text in stretches that are cited as a whole, for the dialect that has no offsets. `before` is the length of the answer's
 * text up to it. Stretches that overlap are one; blanks between two belong to the first.
 */
export function citedStretches(text: string, citations: readonly Citation[], before: number): Stretch[] {
  const within = (index: number | undefined, usual: number): number =>
    fullCharacter(text, Math.min(text.length, Math.max(0, index === undefined ? usual : index - before)))
  const ranges = citations
    .map((citation) => ({
      start: within(citation.startIndex, 0),
      end: within(citation.endIndex, text.length),
      citation,
    }))
    .map((range) => (range.end > range.start ? range : { ...range, start: 0, end: text.length }))
    .sort((left, right) => left.start - right.start || left.end - right.end)
  const cited: { start: number; end: number; citations: Citation[] }[] = []
  for (const { start, end, citation } of ranges) {
    const last = cited.at(-1)
    if (last && start < last.end) {
      last.end = Math.max(last.end, end)
      last.citations.push(citation)
    } else cited.push({ start, end, citations: [citation] })
  }
  const stretches: Stretch[] = []
  let at = 0
  const plain = (end: number): void => {
    const gap = text.slice(at, end)
    const last = stretches.at(-1)
    if (gap === '') return
    // A block of blanks alone is refused when the conversation goes on.
    if (gap.trim() === '' && last) last.text += gap
    else stretches.push({ text: gap, citations: [] })
  }
  for (const { start, end, citations: sources } of cited) {
    plain(start)
    stretches.push({ text: text.slice(start, end), citations: sources })
    at = end
  }
  plain(text.length)
  return stretches
}
