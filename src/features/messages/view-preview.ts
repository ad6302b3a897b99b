import type { MessageFormat } from './schema.ts'

const longest = 100

/** Enough for a preview however many marks stand in it. */
const looked = 2000

const withoutTags = (html: string): string =>
  html
    .replace(/<(script|style)\b[\s\S]*?(<\/\1\s*>|$)/gi, ' ')
    .replace(/<[^<>]*(>|$)/g, ' ')
    .replace(/&nbsp;/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')

/** What looks like a tag in code is none. */
const escaped = (code: string): string => code.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

const withoutMarks = (markdown: string): string =>
  markdown
    .replace(/(?<!`)(`+)(?!`)([^`]+)\1/g, (_, __, code: string) => escaped(code))
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, '$1')
    .replace(/^[ \t]*(#{1,6}|>|[-*+]|\d+\.)[ \t]+/gm, '')
    .replace(/(\*\*|__|~~|`+)/g, '')

/** The beginning of a message in plain words: at most 100 characters, the last three for the ellipsis. */
export function previewOf(content: string, format: MessageFormat): string {
  const start = content.slice(0, looked)
  const plain = format === 'plain' ? start : withoutTags(format === 'markdown' ? withoutMarks(start) : start)
  const characters = [...plain.replace(/\s+/g, ' ').trim()]
  return characters.length <= longest ? characters.join('') : `${characters.slice(0, longest - 3).join('')}...`
}
