/** Types whose key is one text, whatever it contains. */
const undividedTypes = new Set([41, 57])

/**
 * The credentials in a channel's key field: separated by commas or line breaks, blanks trimmed, empties dropped. A
 * service-account file, or any text that begins with a brace, is one key.
 */
export function splitKeys(type: number, text: string): string[] {
  const trimmed = text.trim()
  if (trimmed === '') return []
  if (undividedTypes.has(type) || trimmed.startsWith('{')) return [trimmed]
  return trimmed
    .split(/[,\n]/)
    .map((key) => key.trim())
    .filter((key) => key !== '')
}
