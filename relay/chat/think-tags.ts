export type ThinkPiece = { kind: 'reasoning' | 'text'; text: string }

const opening = '<think>'
const closing = '</think>'
/** The line ends around the tags belong to them. */
const closingAfterLine = `\n${closing}`

/** How many characters at the end of a text may be the beginning of one of the marks. */
function heldBack(text: string, marks: readonly string[]): number {
  const longest = Math.min(text.length, Math.max(...marks.map((mark) => mark.length)) - 1)
  for (let length = longest; length > 0; length -= 1) {
    const end = text.slice(-length)
    if (marks.some((mark) => mark.startsWith(end))) return length
  }
  return 0
}

/**
 * Takes the reasoning that stands between `<think>` and `</think>` at the beginning of a text apart from the rest, however
 * the text is cut. Tags further on are text like any other; a reasoning part that is never closed stays one.
 */
export function createThinkTagSplitter(): { push: (text: string) => ThinkPiece[]; end: () => ThinkPiece[] } {
  let state: 'before' | 'reasoning' | 'gap' | 'text' = 'before'
  let held = ''
  let isReasoningEmpty = true

  const pieceOf = (kind: ThinkPiece['kind'], text: string): ThinkPiece[] => (text === '' ? [] : [{ kind, text }])

  function readStart(): ThinkPiece[] {
    const start = held.trimStart()
    if (start.startsWith(opening)) {
      state = 'reasoning'
      held = start.slice(opening.length)
      return readReasoning()
    }
    if (opening.startsWith(start)) return []
    state = 'text'
    return readText()
  }
  function readReasoning(): ThinkPiece[] {
    if (isReasoningEmpty) held = held.replace(/^\n+/, '')
    const end = held.indexOf(closing)
    const known = end >= 0 ? end : held.length - heldBack(held, [closing, closingAfterLine])
    const reasoning = end >= 0 ? held.slice(0, end).replace(/\n$/, '') : held.slice(0, known)
    const pieces = pieceOf('reasoning', reasoning)
    isReasoningEmpty &&= reasoning === ''
    held = held.slice(end >= 0 ? end + closing.length : known)
    if (end < 0) return pieces
    state = 'gap'
    return [...pieces, ...readGap()]
  }
  function readGap(): ThinkPiece[] {
    held = held.replace(/^\n+/, '')
    if (held === '') return []
    state = 'text'
    return readText()
  }
  function readText(): ThinkPiece[] {
    const text = held
    held = ''
    return pieceOf('text', text)
  }
  const read = { before: readStart, reasoning: readReasoning, gap: readGap, text: readText }

  return {
    push(text) {
      held += text
      return read[state]()
    },
    end() {
      const rest = held
      held = ''
      // What comes later is no beginning any more.
      if (state === 'before' && rest !== '') state = 'text'
      return pieceOf(state === 'reasoning' ? 'reasoning' : 'text', rest)
    },
  }
}
