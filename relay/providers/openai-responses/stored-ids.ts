import { containersMade } from '../shared/held-objects.ts'
import { recordsOf, wordOf, type Json } from '../shared/json.ts'

/** Ids of a complete response and its items, where the upstream keeps them, which it says itself; and of containers. */
export function storedIds(response: Json): string[] {
  const containers = containersMade(response)
  const id = wordOf(response['id'])
  if (response['store'] === false || id === undefined) return containers
  return [...containers, id, ...recordsOf(response['output']).flatMap((item) => wordOf(item['id']) ?? [])]
}
