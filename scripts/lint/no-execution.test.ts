import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { callsIn, importsOf, productFiles, type SourceFile } from './source-code.ts'

const files = productFiles()

/** What turns a text into code or a command. */
const runsText = new Set(['eval', 'Function', 'execSync', 'exec', 'spawn', 'importScripts', 'document.write'])
const timers = new Set(['setTimeout', 'setInterval', 'setImmediate'])
const forbiddenModules = /^(node:)?(child_process|vm|repl|inspector)(\/|$)/
/** Starts PostgreSQL with arguments of its own making; no setting reaches it. */
const mayStartPrograms = /^db\/embedded/

function findings(file: SourceFile): string[] {
  const modules = importsOf(file)
    .filter((name) => forbiddenModules.test(name) && !mayStartPrograms.test(file.path))
    .map((name) => `${file.path} imports ${name}`)
  const calls = callsIn(file).flatMap(({ place, name, first, isImport }) => {
    if (mayStartPrograms.test(file.path) && name === 'spawn') return []
    const isText = first?.type === 'Literal' || first?.type === 'TemplateLiteral'
    const makesCode = /(^|\.)constructor$/.test(name) || (timers.has(name) && isText)
    if (isImport) return isText || mayStartPrograms.test(file.path) ? [] : [`${place()} imports what a value names`]
    return runsText.has(name) || makesCode ? [`${place()} calls ${name}`] : []
  })
  return [...modules, ...calls]
}

test.each([
  ['eval(text)', 'calls eval'],
  ['new Function(text)()', 'calls Function'],
  ["setTimeout('run()', 1)", 'calls setTimeout'],
  ['({}).constructor.constructor(text)', 'calls'],
  ["import { runInNewContext } from 'node:vm'", 'imports node:vm'],
  ["await import('child_process')", 'imports child_process'],
  ['await import(name)', 'imports what a value names'],
])('%s is found', (text, words) => {
  expect(findings({ path: 'src/example.ts', text }).join()).toContain(words)
})

test('no setting reaches an interpreter or a shell: the product runs no text as code and starts no program but its database', () => {
  expect(files.length).toBeGreaterThan(500)
  expect(files.flatMap(findings)).toEqual([])
})

test('no template engine or expression language is installed for the product', () => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const engines =
    /^(ejs|pug|handlebars|mustache|nunjucks|liquidjs|eta|dot|lodash|lodash\.template|jsonata|mathjs|expr-eval|vm2|isolated-vm|jexl|squirrelly|hbs|jsonpath(-plus)?)$/
  expect(Object.keys(dependencies as object).filter((name) => engines.test(name))).toEqual([])
})
