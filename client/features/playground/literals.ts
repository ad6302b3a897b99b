/** A single quote ends a shell's text, is given by itself, and begins it anew. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const constants = new Map<unknown, string>([
  [null, 'None'],
  [true, 'True'],
  [false, 'False'],
])

/** A value as Python writes it; text is quoted as in JSON, which Python reads alike. */
export function pythonLiteral(value: unknown, indent = 0): string {
  const inner = ' '.repeat(indent + 4)
  const outer = ' '.repeat(indent)
  const constant = constants.get(value)
  if (constant !== undefined) return constant
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((item) => `${inner}${pythonLiteral(item, indent + 4)},\n`).join('')}${outer}]`
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    if (entries.length === 0) return '{}'
    const lines = entries.map(
      ([name, item]) => `${inner}${JSON.stringify(name)}: ${pythonLiteral(item, indent + 4)},\n`,
    )
    return `{\n${lines.join('')}${outer}}`
  }
  return JSON.stringify(value)
}

/** JSON is JavaScript as it is; names that need no quotes go without. */
export const javaScriptLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(/^( *)"([a-zA-Z_$][\w$]*)":/gm, '$1$2:')
