import { storableText } from '#core/storable-text.ts'

/** Every text inside a JSON value as the database can keep it. */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [storableText(name), storableJson(item)]))
}
