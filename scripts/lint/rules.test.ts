import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../steps.ts'
import { createProject } from '../testing/project.ts'

const lines = (count: number) => 'export {}\n'.repeat(count)
const loose = 'src/features/tokens'

/** For each rule one file that breaks it, as somebody might write it. */
const violations: Record<string, Record<string, string>> = {
  'boundaries/imports': { 'src/core/low.ts': `export { high } from '../features/tokens/high.ts'` },
  'boundaries/call-getters': {
    'relay/billing/getter.ts':
      'export const hold = (amount: number) => ({\n  get amount() {\n    return amount\n  },\n})',
  },
  'boundaries/dialect-comparison': {
    [`${loose}/dialect.ts`]: `export const isOwn = (dialect: { id: string }) => dialect.id === 'other'`,
  },
  'boundaries/upstream-call': {
    [`${loose}/send.ts`]: 'export const go = (transport: { send: () => void }) => transport.send()',
  },
  'boundaries/denied-identifiers': { 'src/core/wish.ts': 'export const unsaid = 1' },
  'import/no-cycle': {
    [`${loose}/one.ts`]: `import { two } from './two.ts'\nexport const one = () => two`,
    [`${loose}/two.ts`]: `import { one } from './one.ts'\nexport const two = () => one`,
    [`${loose}/first-type.ts`]: `import type { Second } from './second-type.ts'\nexport type First = Second | null`,
    [`${loose}/second-type.ts`]: `import type { First } from './first-type.ts'\nexport type Second = First[]`,
  },
  'import/no-default-export': { [`${loose}/default.ts`]: 'export default 1' },
  'typescript/consistent-type-imports': {
    [`${loose}/type-import.ts`]: `import { High } from './high.ts'\nexport const low = (high: High) => high`,
  },
  'typescript/no-import-type-side-effects': {
    [`${loose}/type-imports.ts`]: `import { type High } from './high.ts'\nexport const low = (high: High) => high`,
  },
  'typescript/no-explicit-any': { [`${loose}/any.ts`]: 'export const anything: any = 1' },
  'typescript/no-floating-promises': { [`${loose}/floating.ts`]: 'export const start = () => {\n  fetch("/")\n}' },
  'typescript/switch-exhaustiveness-check': {
    [`${loose}/switch.ts`]: `export function name(kind: 'a' | 'b') {\n  switch (kind) {\n    case 'a':\n      return 1\n  }\n}`,
  },
  'unicorn/filename-case': { [`${loose}/fileName.ts`]: 'export const name = 1' },
  'no-console': { [`${loose}/console.ts`]: 'console.log(1)' },
  'max-lines': { [`${loose}/long.ts`]: lines(401) },
  'max-params': {
    [`${loose}/params.ts`]: 'export const sum = (a: number, b: number, c: number, d: number) => a + b + c + d',
  },
  'vitest/valid-expect': {
    [`${loose}/expect.test.ts`]: `import { expect, test } from 'vitest'\ntest('a', () => {\n  expect(1)\n})`,
  },
  'no-restricted-properties': { [`${loose}/environment.ts`]: 'export const port = process.env' },
  'no-restricted-globals': { 'src/core/clock.ts': 'export const later = (work: () => void) => setTimeout(work, 1)' },
}

type Settings = { rules: Record<string, unknown>; overrides: { rules: Record<string, unknown> }[] }
type Finding = { code: string; filename: string }

const settings: Settings = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8'))

/** `eslint-plugin-import(no-cycle)` is `import/no-cycle`, `eslint(no-console)` plain `no-console`. */
const ruleOf = (code: string) =>
  code
    .replace(/^(?:typescript-eslint|eslint-plugin-)?/, (prefix) => (prefix === 'typescript-eslint' ? 'typescript' : ''))
    .replace(/^eslint\((.+)\)$/, '$1')
    .replace(/^(.+)\((.+)\)$/, '$1/$2')

test('each rule that the settings name fails the lint of a file that breaks it, and is named in what is said', () => {
  const folder = createProject(['.oxlintrc.json', 'package.json', 'tsconfig.json', 'scripts/lint'], {
    ...Object.assign({}, ...Object.values(violations)),
    [`${loose}/high.ts`]: 'export type High = number\nexport const high = 1',
  })
  const args = ['--deny-warnings', '--format', 'json', 'src', 'relay']
  const { status, stdout } = spawnSync('oxlint', args, { cwd: folder, encoding: 'utf8' })
  expect(status).not.toBe(0)
  const { diagnostics }: { diagnostics: Finding[] } = JSON.parse(stdout)
  const found = diagnostics.map(({ code, filename }) => `${ruleOf(code)} in ${filename}`)
  const expected = Object.entries(violations).flatMap(([rule, files]) =>
    Object.keys(files).map((file) => `${rule} in ${file}`),
  )
  expect(found).toEqual(expect.arrayContaining(expected))
  const named = [settings, ...settings.overrides].flatMap(({ rules }) =>
    Object.entries(rules).flatMap(([rule, value]) => (value === 'off' ? [] : [rule])),
  )
  expect(Object.keys(violations)).toEqual(expect.arrayContaining(named))
})
