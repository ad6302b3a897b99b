export type Setting = Readonly<Record<string, unknown>>

/** The setting as an object; nothing written is an empty one, and undefined means the text is none. */
export function readSetting(text: string): Setting | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** The text with one key changed. What is off or empty is left out, and nothing at all is an empty text. */
export function writeSetting(text: string, name: string, value: unknown): string {
  const { [name]: _before, ...rest } = readSetting(text) ?? {}
  const isUnset = value === '' || value === false || value === undefined || value === null
  const next = isUnset ? rest : { ...rest, [name]: value }
  return Object.keys(next).length === 0 ? '' : JSON.stringify(next, null, 2)
}
