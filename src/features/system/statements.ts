const longest = 400

/** A statement as an operator may read it: what it was given is left out, for it may be anybody's. */
export function withoutValues(statement: string): string {
  const text = statement
    .slice(0, 4 * longest)
    .replaceAll(/'(?:[^']|'')*(?:'|$)/g, "'…'")
    .replaceAll(/\s+/g, ' ')
    .trim()
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
