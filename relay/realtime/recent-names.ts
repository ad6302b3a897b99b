/** Whoever repeats itself does so soon; a session that lasts must not grow by all that it has seen. */
const mostNames = 1000

/** The latest names; the empty one is none. */
export function createRecentNames() {
  const names = new Set<string>()
  return {
    has: (name: string): boolean => names.has(name),
    add: (name: string): void => {
      if (name === '') return
      names.add(name)
      if (names.size > mostNames) names.delete(names.keys().next().value as string)
    },
  }
}
