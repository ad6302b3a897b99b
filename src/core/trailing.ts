/**
 * A text without the copies of a character at its end. An expression for this begins anew at each copy, which takes
 * quadratic time where the end is something else.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return text.slice(0, end)
}

export const withoutTrailingSlashes = (address: string): string => withoutTrailing(address, '/')
