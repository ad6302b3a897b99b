/** A cell holds no line break and no bar that would end it. */
const cell = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|')

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')

export const code = (text: string | number): string => (text === '' ? '' : `\`${text}\``)

/** The generated parts of one page, by the name in their markers. */
export type Blocks = Readonly<Record<string, () => string>>
