import { recordsOf, wordOf, type Json } from '../shared/json.ts'

/** Ids of a complete response and its items, where the upstream keeps them; it says so itself. */
export function storedIds(response: Json): string[] {
  if (response['store'] === false) return []
  const id = wordOf(response['id'])
  if (id === undefined) return []
  return [id, ...recordsOf(response['output']).flatMap((item) => wordOf(item['id']) ?? [])]
}
