const quote = 0x22
const backslash = 0x5c
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b])
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d])
const isBlank = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/**
 * Reports whether a text that comes in pieces is a whole JSON object so far. Each piece is looked at once, however often that is asked, and
 * the text is read as JSON when its outermost bracket has closed, which it does once.
 */
export function createObjectEnd() {
  let unread: string[] = []
  let text = ''
  let depth = 0
  let isQuoted = false
  let isEscaped = false
  let state: 'open' | 'complete' | 'broken' = 'open'

  const readCode = (code: number): void => {
    if (isEscaped) isEscaped = false
    else if (isQuoted) {
      isEscaped = code === backslash
      isQuoted = code !== quote
    } else if (code === quote) isQuoted = true
    else if (opening.has(code)) depth += 1
    else if (closing.has(code)) depth -= 1
  }
  const read = (piece: string): void => {
    for (let at = 0; at < piece.length && state !== 'broken'; at += 1) {
      const code = piece.charCodeAt(at)
      if (isBlank(code) && depth === 0) continue
      const isFirst = depth === 0
      readCode(code)
      if (state === 'complete' || (isFirst && depth !== 1)) state = 'broken'
      else if (depth === 0) state = isObject(text + piece.slice(0, at + 1)) ? 'complete' : 'broken'
    }
    text = state === 'open' ? text + piece : ''
  }
  return {
    add: (piece: string): void => {
      if (piece !== '' && state !== 'broken') unread.push(piece)
    },
    isComplete: (): boolean => {
      for (const piece of unread) read(piece)
      unread = []
      return state === 'complete'
    },
  }
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
