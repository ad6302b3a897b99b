import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { deniedIdentifiers } from './denied-identifiers.mjs'
import { callGetters } from './call-getters.mjs'
import { dialectComparison } from './dialect-comparison.mjs'
import { pathOf } from './path.mjs'
import { upstreamCall } from './upstream-call.mjs'

const { imports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const packages = ['npm:**', 'node:**']
const services = ['src/features/**', '!src/features/*/router**', '!src/features/*/rest**']
const blocks = ['client/**', '!client/features/**', '!client/app/**']
const bottom = [
  'relay/transport/**',
  'relay/chat/**',
  'relay/providers/**',
  'relay/counting/**',
  'relay/upstream-call/**',
]

/** Tests and what serves them alone, and the settings of tools. */
const free = /\.test\.tsx?$|\/(testing|conformance)\/|\.config\.ts$/

/**
 * The floors, lowest first: a file imports from its own floor and from those below, types included. A test holds the table to
 * this order. Within a floor the table says who knows whom.
 */
export const floors = [
  ['src/core/**'],
  ['db/**'],
  bottom,
  ['src/trpc/**', 'src/rest/**'],
  ['src/features/**'],
  ['src/jobs/**', 'relay/**'],
  ['src/server/**'],
  ['client/**'],
]

/**
 * Who may import whom. The first row that fits the file wins; paths have no extension. `own` is the file's feature,
 * `type:` lets types through only, `!` takes back what stands before it, `npm:` and `node:` are packages. Tests and scripts import what they like.
 */
export const table = [
  ['src/core/pricing/**', ['src/core/**', 'npm:zod', 'npm:@pydantic/genai-prices']],
  ['src/core/screening/**', ['src/core/**', 'npm:zod', 'npm:re2js']],
  ['src/core/**', ['src/core/**', 'npm:zod']],
  ['db/**', ['db/**', 'src/core/**', ...packages]],
  ['relay/transport/**', ['relay/transport/**', 'src/core/**', ...packages]],
  ['relay/chat/**', ['relay/chat/**', 'type:relay/transport/framing', 'src/core/**', 'npm:zod', 'node:crypto']],
  [
    'relay/counting/**',
    ['relay/counting/**', 'relay/chat/**', 'src/core/**', 'npm:zod', 'npm:gpt-tokenizer', 'node:crypto'],
  ],
  [
    'relay/providers/**',
    ['relay/providers/**', 'relay/chat/**', 'type:relay/transport/**', 'src/core/**', 'npm:zod', 'node:crypto'],
  ],
  [
    'relay/upstream-call/**',
    [
      'relay/upstream-call/**',
      'relay/providers/**',
      'relay/transport/**',
      'relay/chat/**',
      'src/core/**',
      'type:npm:ws',
    ],
  ],
  ['src/trpc/**', ['src/trpc/**', 'src/core/**', ...packages]],
  ['src/rest/**', ['src/rest/**', 'src/trpc/**', 'src/core/**', ...packages]],
  [
    'src/features/procedures',
    [
      'src/features/deps',
      'src/features/client-address/service',
      'src/features/idempotency/service',
      'src/features/second-factor/verification',
      'src/features/site/demo',
      'src/trpc/**',
      'src/core/**',
      ...packages,
    ],
  ],
  ['src/features/*/schema**', ['own/schema**', 'src/core/**', 'npm:zod']],
  [
    'src/features/*/view**',
    [
      'own/view**',
      'own/schema**',
      'src/core/**',
      'type:db/**',
      'type:src/features/deps',
      'type:src/features/secrets/service',
    ],
  ],
  ['src/features/*/router**', ['own/**', '!own/rest**', 'src/features/procedures', 'src/core/**', 'npm:zod']],
  [
    'src/features/*/rest**',
    [
      'own/**',
      '!own/router**',
      'type:src/features/*/router**',
      'src/rest/route',
      'src/rest/read',
      'src/rest/reply',
      'src/core/**',
      'npm:zod',
    ],
  ],
  ['src/features/**', [...services, 'src/core/**', 'db/**', ...bottom, ...packages]],
  ['src/jobs/**', ['src/jobs/**', ...services, 'src/core/**', 'db/**', ...packages]],
  [
    'relay/dialects/**',
    ['relay/dialects/**', 'relay/chat/**', 'type:relay/transport/framing', 'src/core/**', 'npm:zod', 'node:crypto'],
  ],
  ['relay/**', ['relay/**', ...services, 'src/core/**', 'db/**', ...packages]],
  ['src/server/**', ['src/**', 'relay/**', 'db/**', ...packages]],
  [
    'client/features/**',
    [...blocks, 'own/**', 'src/core/**', 'src/features/*/schema**', 'type:src/server/app-router', 'npm:**'],
  ],
  ['client/app/**', ['client/**', 'src/core/**', 'src/features/*/schema**', 'type:src/server/app-router', 'npm:**']],
  ['client/i18n/en**', ['client/i18n/**', 'client/features/*/en.json', 'src/core/**']],
  ['client/*', ['client/**', 'npm:**']],
  ['client/**', [...blocks, 'src/core/**', 'type:src/server/app-router', 'type:src/trpc/**', 'npm:**']],
]

const compiled = new Map()
const matches = (path, glob) => {
  const source = glob.replaceAll('.', '\\.').replaceAll('**', '§').replaceAll('*', '[^/]*').replaceAll('§', '.*')
  if (!compiled.has(glob)) compiled.set(glob, new RegExp(`^${source}$`))
  return compiled.get(glob).test(path)
}

const withoutExtension = (path) => path.replace(/\.(ts|tsx|mjs|js)$/, '')

/** What an import names: a path below the root, or `npm:…`, or `node:…`. */
export function targetOf(file, specifier) {
  if (specifier.startsWith('.')) return withoutExtension(posix.join(posix.dirname(file), specifier))
  if (specifier.startsWith('#')) {
    const [alias, ...rest] = specifier.split('/')
    const folder = imports[`${alias}/*`]
    return withoutExtension(posix.join(folder ? folder.replace('*', '') : specifier, ...rest))
  }
  if (specifier.startsWith('node:')) return specifier
  const [scope, name] = specifier.split('/')
  const packageName = specifier.startsWith('@') ? `${scope}/${name}` : scope
  return builtinModules.includes(packageName) ? `node:${specifier}` : `npm:${packageName}`
}

export function isAllowed(file, specifier, typesOnly) {
  const row = free.test(file) ? undefined : table.find(([pattern]) => matches(withoutExtension(file), pattern))
  if (!row) return true
  const target = targetOf(file, specifier)
  const own = file.split('/').slice(0, 3).join('/')
  const fits = (glob) => matches(target, glob.replace(/^own/, own))
  const answers = row[1].map((entry) => {
    if (entry.startsWith('!')) return fits(entry.slice(1)) ? false : undefined
    if (entry.startsWith('type:')) return typesOnly && fits(entry.slice(5)) ? true : undefined
    return fits(entry) ? true : undefined
  })
  return answers.findLast((answer) => answer !== undefined) ?? false
}

const isTypeOnly = ({ importKind, exportKind, specifiers }) =>
  importKind === 'type' ||
  exportKind === 'type' ||
  (specifiers?.length > 0 && specifiers.every((one) => one.importKind === 'type'))

const create = (context) => {
  const file = pathOf(context.filename)
  const check = (node, typesOnly) => {
    const specifier = node.source?.value
    if (typeof specifier !== 'string' || isAllowed(file, specifier, typesOnly)) return
    const what = typesOnly || isAllowed(file, specifier, true) === false ? 'import' : 'import values of'
    context.report({
      node,
      message: `${file} may not ${what} ${targetOf(file, specifier)} (scripts/lint/boundaries.mjs)`,
    })
  }
  const checkStatement = (node) => check(node, isTypeOnly(node))
  return {
    ImportDeclaration: checkStatement,
    ExportNamedDeclaration: checkStatement,
    ExportAllDeclaration: checkStatement,
    ImportExpression: (node) => check(node, false),
    TSImportType: (node) => check(node, true),
  }
}

export default {
  meta: { name: 'boundaries' },
  rules: {
    imports: { create },
    'call-getters': callGetters,
    'dialect-comparison': dialectComparison,
    'upstream-call': upstreamCall,
    'denied-identifiers': deniedIdentifiers(pathOf),
  },
}
