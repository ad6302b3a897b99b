import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vite'

const root = fileURLToPath(new URL('../..', import.meta.url))

type SyntaxNode = { type: string; start: number; [field: string]: unknown }

export type SourceFile = { path: string; text: string }

/** Tests, and the settings of tools that build and test. */
const isTest = /\.(test|config)\.tsx?$|\/(testing|conformance|__fixtures__)\//

/** What runs where texts of anonymous callers arrive: servers and the console, without their tests. */
export const productFiles = (): SourceFile[] =>
  globSync('{src,relay,db,client}/**/*.{ts,tsx,js}', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !isTest.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }))

/** Every file of code, tests and scripts included. */
export const codeFiles = (): SourceFile[] =>
  globSync('{src,relay,db,client,scripts,test}/**/*.{ts,tsx,mjs}', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }))

/** Names that a file gives or uses, with the first place of each, whose line is counted on demand. Strings hold no names. */
export function identifiersIn(file: SourceFile): { name: string; place: () => string }[] {
  const first = new Map<string, SyntaxNode>()
  visit(file, (node) => {
    const { type, name } = node as { type: string; name?: unknown }
    if ((type === 'Identifier' || type === 'JSXIdentifier') && typeof name === 'string' && !first.has(name))
      first.set(name, node)
  })
  return [...first].map(([name, node]) => ({ name, place: () => placeOf(file, node) }))
}

/** Comments of a file, line by line, and the names of its tests. */
export function proseIn({ path, text }: SourceFile): { text: string; place: string }[] {
  return text.split('\n').flatMap((line, index) => {
    const comment = /^\s*(?:\/\*\*?|\*|\/\/) (.*)|\s\/\/ (.*)/.exec(line)
    const title = /^\s*(?:(?:test|it|describe)[^'"]*?|\]\))\((?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|`([^`]*)`)/.exec(line)
    const found = [...(title ?? comment ?? [])].slice(1).find((part) => part !== undefined)
    return found === undefined ? [] : [{ text: found, place: `${path}:${index + 1}` }]
  })
}

export type RegexLiteral = { place: string; source: string; flags: string }

/** Each regular expression that is written out in a file. */
export function regexesIn({ path, text }: SourceFile): RegexLiteral[] {
  const found: RegexLiteral[] = []
  if (!text.includes('/')) return found
  visit({ path, text }, (node) => {
    const { regex } = node as { regex?: { pattern: string; flags: string } }
    if (node.type === 'Literal' && regex)
      found.push({ place: placeOf({ path, text }, node), source: regex.pattern, flags: regex.flags })
  })
  return found
}

const nameOf = (node: unknown): string => {
  const { type, name, object, property, computed } = Object(node) as Record<string, unknown>
  if (type === 'Identifier') return String(name)
  if (type === 'MemberExpression' && computed !== true) return `${nameOf(object)}.${nameOf(property)}`
  return ''
}

export type Call = {
  /** Counting lines costs more than finding the call. */
  place: () => string
  /** `eval`, `vm.runInContext`; "" where what is called has no name. */
  name: string
  first: SyntaxNode | undefined
  /** `import(…)`. */
  isImport: boolean
}

/** Calls and constructions, by the name of what is called. */
export function callsIn(file: SourceFile): Call[] {
  const found: Call[] = []
  visit(file, (node) => {
    const place = () => placeOf(file, node)
    if (node.type === 'ImportExpression')
      found.push({ place, name: '', first: node['source'] as SyntaxNode, isImport: true })
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return
    const [first] = node['arguments'] as SyntaxNode[]
    found.push({ place, name: nameOf(node['callee']), first, isImport: false })
  })
  return found
}

/** What a file imports, statically or not. */
export function importsOf(file: SourceFile): string[] {
  const found: string[] = []
  visit(file, (node) => {
    const { value } = Object(node['source']) as { value?: unknown }
    if (typeof value === 'string') found.push(value)
  })
  return found
}

const placeOf = ({ path, text }: SourceFile, { start }: SyntaxNode): string =>
  `${path}:${text.slice(0, start).split('\n').length}`

function visit({ path, text }: SourceFile, see: (node: SyntaxNode) => void): void {
  const lang = path.endsWith('.tsx') ? 'tsx' : path.endsWith('.ts') ? 'ts' : 'js'
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) return value.forEach(walk)
    if ('type' in value && typeof value.type === 'string') see(value as SyntaxNode)
    Object.values(value).forEach(walk)
  }
  walk(parseAst(text, { lang }, path))
}
