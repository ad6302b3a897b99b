import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { inSources, positionsInSources } from '#server/source-positions.ts'
import { root } from './steps.ts'

const folder = mkdtempSync(join(tmpdir(), 'server-build-'))
afterAll(() => rmSync(folder, { recursive: true }))

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n')

const build = async (): Promise<number | null> => {
  const args = ['scripts/bundle-server.ts', root, join(folder, 'build')]
  const [status] = (await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }), 'exit')) as [
    number | null,
  ]
  return status
}

test('two that build at once leave one build and nothing beside it', async () => {
  expect(await Promise.all([build(), build()])).toEqual([0, 0])
  expect(globSync('*', { cwd: folder })).toEqual(['build'])
})

test('the built server is few files in which threads and migrations are found, and whose lines are known in the sources', () => {
  const built = join(folder, 'build')
  const files = globSync('**/*.js', { cwd: built })
  expect(files.length).toBeLessThan(80)
  expect(files).toEqual(
    expect.arrayContaining(['main.js', 'relay/billing/count-thread.js', 'relay/request/screen-thread.js']),
  )
  expect(readdirSync(join(built, 'db/migrations'))).toEqual(
    readdirSync(join(root, 'db/migrations')).filter((name) => name.endsWith('.sql')),
  )
  // An image is built by root and run by somebody else.
  expect(statSync(built).mode & 0o055).toBe(0o055 & ~process.umask())
  const places = files.map((name) => ({
    url: pathToFileURL(join(built, name)).href,
    lines: linesOf(join(built, name)),
  }))
  const isFunction = (line: string): boolean => line.startsWith('function readBuildId(')
  const { url, lines } = places.find((place) => place.lines.some(isFunction)) ?? expect.fail('not built')
  const [position] = positionsInSources(url, [{ line: lines.findIndex(isFunction) + 1, column: 10 }])
  const source = 'src/server/build-id.ts'
  const line = linesOf(join(root, source)).findIndex((text) => text.startsWith('export function readBuildId(')) + 1
  expect(position).toMatch(new RegExp(`/${source}:${line}:\\d+$`))
  const stack = `Error: as seen at file:///a.js:1:1\n    at readBuildId (${url}:${lines.findIndex(isFunction) + 1}:10)\n    at node:internal/x:1:1`
  expect(inSources(stack)).toBe(stack.replace(/\(.*\)/, `(${position})`))
})
