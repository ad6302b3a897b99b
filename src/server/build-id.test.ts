import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readBuildId } from './build-id.ts'

test('a build is another one where a file that serves has changed, was renamed or came, and the same for tests and copies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'build-'))
  for (const part of ['src/core', 'relay', 'db/migrations']) mkdirSync(join(folder, part), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{}')
  writeFileSync(join(folder, 'src/core/a.ts'), 'export const a = 1')
  const first = readBuildId(folder)

  writeFileSync(join(folder, 'src/core/a.test.ts'), 'test()')
  const copy = `${folder}-copy`
  cpSync(folder, copy, { recursive: true })
  expect([readBuildId(folder), readBuildId(copy)]).toEqual([first, first])

  const seen = [first]
  const look = () => seen.push(readBuildId(folder))
  writeFileSync(join(folder, 'src/core/a.ts'), 'export const a = 2')
  look()
  renameSync(join(folder, 'src/core/a.ts'), join(folder, 'src/core/b.ts'))
  look()
  writeFileSync(join(folder, 'db/migrations/1.sql'), 'select 1')
  look()
  writeFileSync(join(folder, 'package.json'), '{"version":"2"}')
  look()
  expect(new Set(seen).size).toBe(5)
  for (const made of [folder, copy]) rmSync(made, { recursive: true })
})
