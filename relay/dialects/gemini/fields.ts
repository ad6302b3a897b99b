import { type Fields, isObject } from '#relay/chat/json.ts'

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A field by its camelCase name, also where the caller wrote it in snake_case. */
export const pick = (fields: Fields, name: string): unknown => fields[name] ?? fields[toSnakeCase(name)] ?? undefined

/** Both spellings of the names. */
export const bothSpellings = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.flatMap((name) => [name, toSnakeCase(name)]))

export const pickObject = (fields: Fields, name: string): Fields | undefined => {
  const value = pick(fields, name)
  return isObject(value) ? value : undefined
}

/** A word of an enumeration, also where its number is written: Google's older libraries for Python do so over HTTP. */
export const enumWord = (value: unknown, words: readonly string[]): unknown =>
  typeof value === 'number' ? (words[value] ?? value) : value
