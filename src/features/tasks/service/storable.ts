/** The database keeps neither NUL nor half a surrogate pair, which callers and upstreams may well send. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** The same for every text inside a JSON value. */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [storableText(name), storableJson(item)]))
}
