import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vite'
import { root } from '#scripts/steps.ts'
import type { Rule } from './rule.ts'

type SyntaxNode = { type: string; start: number; end: number; [field: string]: unknown }

/** A test as it is written: its name, and its text with that of the constants it names. */
type WrittenTest = { name: string; text: string }

const isNode = (value: unknown): value is SyntaxNode => typeof Object(value)['type'] === 'string'

function visit(node: SyntaxNode, see: (node: SyntaxNode) => void): void {
  see(node)
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, see)
}

/** `it`, `test`, and what they are called through: `it.each(…)`, `test.skipIf(…)`. */
function isTestFunction(callee: unknown): boolean {
  const { type, name, object, callee: inner, tag } = Object(callee) as Record<string, unknown>
  if (type === 'Identifier') return name === 'it' || name === 'test'
  const next = object ?? inner ?? tag
  return next !== undefined && isTestFunction(next)
}

function nameOf(node: unknown, text: string): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'Literal') return String(node['value'])
  return node.type === 'TemplateLiteral' ? text.slice(node.start + 1, node.end - 1) : undefined
}

/** Tables of cases and functions that several tests share, by name, wherever they stand. */
function sharedTexts(program: SyntaxNode, text: string): Map<string, string> {
  const shared = new Map<string, string>()
  visit(program, (node) => {
    if (node.type !== 'VariableDeclarator' && node.type !== 'FunctionDeclaration') return
    const { id } = node as { id?: { name?: string } | null }
    if (id?.name) shared.set(id.name, text.slice(node.start, node.end))
  })
  return shared
}

function read(path: string): WrittenTest[] {
  const text = readFileSync(join(root, path), 'utf8')
  const program = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as unknown as SyntaxNode
  const shared = sharedTexts(program, text)
  const found: WrittenTest[] = []
  visit(program, (node) => {
    if (node.type !== 'CallExpression' || !isTestFunction(node['callee'])) return
    const name = nameOf((node['arguments'] as unknown[])[0], text)
    if (name === undefined) return
    const named = new Set<string>()
    visit(node, (inner) => {
      if (inner.type === 'Identifier') named.add(String(inner['name']))
    })
    const constants = [...named].map((each) => shared.get(each) ?? '')
    found.push({ name, text: [text.slice(node.start, node.end), ...constants].join('\n') })
  })
  return found
}

const files = new Map<string, WrittenTest[]>()

function testsOf(path: string): WrittenTest[] {
  const known = files.get(path) ?? (existsSync(join(root, path)) ? read(path) : [])
  files.set(path, known)
  return known
}

/** Why a rule is not proven by the test it names; undefined where it is. */
export function lackOf({ rule, message, asserts = message, file, test }: Rule): string | undefined {
  const named = testsOf(file).filter(({ name }) => name === test)
  if (named.length === 0) return `${rule} ${file} has no test "${test}"`
  if (asserts !== undefined && !named.some(({ text }) => text.includes(asserts)))
    return `${rule} "${test}" in ${file} says nothing of ${asserts}`
  return undefined
}
