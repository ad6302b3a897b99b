import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { replaceFolder } from './console.ts'
import { root } from './steps.ts'

type RemoveFile = typeof rmSync

vi.mock('node:fs', async (original) => {
  const files = await original<{ rmSync: RemoveFile }>()
  return { ...files, rmSync: vi.fn<RemoveFile>(files.rmSync) }
})

test('a build is in its place before the former one is deleted', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-build-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [made, place] = [join(folder, 'made'), join(folder, 'client')]
  for (const name of [made, place]) mkdirSync(name)
  const served: boolean[] = []
  vi.mocked(rmSync).mockImplementationOnce(() => void served.push(existsSync(place)))
  replaceFolder(made, place)
  expect(served).toEqual([true])
})

test('builds that end at the same moment leave one of them, whole, and nothing beside it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-build-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const builder = `
    import { mkdirSync, writeFileSync } from 'node:fs'
    import { replaceFolder } from './scripts/console.ts'
    const [, folder, name] = process.argv
    for (let round = 0; round < 100; round += 1) {
      const made = folder + '/client-' + name
      mkdirSync(made)
      for (const file of ['page', 'script']) writeFileSync(made + '/' + file, name + round)
      replaceFolder(made, folder + '/client')
    }`
  const builders = ['one', 'two'].map((name) =>
    spawn(process.execPath, ['--input-type=module', '--eval', builder, folder, name], { cwd: root, stdio: 'inherit' }),
  )
  const codes = await Promise.all(builders.map((process) => once(process, 'exit').then(([code]) => code as number)))
  expect(codes).toEqual([0, 0])
  expect(globSync('*', { cwd: folder })).toEqual(['client'])
  const read = (file: string) => readFileSync(join(folder, 'client', file), 'utf8')
  expect(read('page')).toMatch(/^(one|two)99$/)
  expect(read('script')).toBe(read('page'))
})
