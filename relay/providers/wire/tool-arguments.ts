import { type Json, recordOf } from './json.ts'

/** The object a call's arguments hold; text that is none travels under `_raw`, so that the model sees what it wrote. */
export function argumentsObject(text: string): Json {
  if (text.trim() === '') return {}
  try {
    return recordOf(JSON.parse(text)) ?? { _raw: text }
  } catch {
    return { _raw: text }
  }
}

/** The JSON text of arguments that an upstream sent as text or as an object. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
