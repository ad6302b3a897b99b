/** What the oldest browsers that the console is for lack of what it uses: both came at the end of 2023 or later. */
if (!('parse' in URL)) {
  Object.assign(URL, {
    parse(address: string, base?: string): URL | null {
      try {
        return new URL(address, base)
      } catch {
        return null
      }
    },
  })
}

if (!('groupBy' in Map)) {
  Object.assign(Map, {
    groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item, place: number) => Key): Map<Key, Item[]> {
      const groups = new Map<Key, Item[]>()
      let place = 0
      for (const item of items) {
        const key = keyOf(item, place)
        const group = groups.get(key)
        if (group) group.push(item)
        else groups.set(key, [item])
        place += 1
      }
      return groups
    },
  })
}
