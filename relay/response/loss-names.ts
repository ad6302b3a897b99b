const longestName = 64
const longestList = 2000

/** Names may come from the caller; a header holds visible characters only, and a separator is none of a name. */
const written = (name: string): string => name.slice(0, longestName).replaceAll(/[^!-+\--~]/g, '?')

/**
 * Names of what is lost as a header and a log row can hold them, each once. A body made of names nobody knows is told of by
 * its first ones: clients refuse an answer whose headers are too long.
 */
export function lossNames(losses: readonly string[]): string[] {
  const names: string[] = []
  let length = 0
  for (const name of new Set(losses.map(written))) {
    length += name.length + 1
    if (length > longestList) return [...names, '...']
    names.push(name)
  }
  return names
}
