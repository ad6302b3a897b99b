import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from './steps.ts'

const folder = mkdtempSync(join(tmpdir(), 'server-build-'))
afterAll(() => rmSync(folder, { recursive: true }))

const build = () =>
  spawnSync(process.execPath, ['scripts/strip-types.ts', root, join(folder, 'build')], { cwd: root, encoding: 'utf8' })

const aliases = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { imports: Record<string, string> })
  .imports

/** Where an import of ours leads; undefined for packages. */
function targetOf(specifier: string, file: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(file), specifier)
  const alias = Object.entries(aliases).find(([name]) => specifier.startsWith(name.replace('*', '')))
  return alias && join(folder, 'build', alias[1].replace('*', specifier.slice(alias[0].length - 1)))
}

test('the built server is JavaScript without types whose imports, threads and migrations are all there', () => {
  expect(build().status).toBe(0)
  const files = globSync('**/*.js', { cwd: join(folder, 'build') }).map((name) => join(folder, 'build', name))
  expect(files.length).toBeGreaterThan(500)
  const missing = files.flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^(?:import|export)\b[^'"]*?from '([^']+)'|\b(?:import|new URL)\('([^']+)'/gm,
      ),
    ]
      .map(([, first, second]) => targetOf(first ?? second ?? '', file))
      .filter((target) => target !== undefined && !existsSync(target))
      .map((target) => `${file}: ${target}`),
  )
  expect(missing).toEqual([])
  expect(existsSync(join(folder, 'build/db/migrations/0001-tables.sql'))).toBe(true)
  // An image is built by root and run by somebody else.
  expect(statSync(join(folder, 'build')).mode & 0o055).toBe(0o055 & ~process.umask())
  expect(globSync('**/*.{test.js,ts}', { cwd: join(folder, 'build') })).toEqual([])
  // Lines and columns stay those of the sources.
  const lines = (path: string) => readFileSync(path, 'utf8').split('\n').length
  expect(lines(join(folder, 'build/src/server/main.js'))).toBe(lines(join(root, 'src/server/main.ts')))
})

test('two that build at once leave one build and nothing beside it', () => {
  expect([build().status, build().status]).toEqual([0, 0])
  expect(globSync('*', { cwd: folder })).toEqual(['build'])
})
