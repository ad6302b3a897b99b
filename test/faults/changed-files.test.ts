import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { startProduct, sendSignal, until } from '../support/processes.ts'
import { createWorld } from './world.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'product-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a worker that dies after the files have changed is not replaced by another version; without any the product ends', async () => {
  for (const part of [
    'src',
    'relay',
    'db',
    'test/support/run-product.ts',
    'test/support/patient-waits.ts',
    'package.json',
  ])
    cpSync(join(root, part), join(folder, part), { recursive: true, force: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await using world = await createWorld()
  await using product = await startProduct({ folder, environment: { ...world.environment, WORKERS: '2' } })
  const kill = (): void => sendSignal(product.workers()[0], 'SIGKILL')
  const count = (text: string): number => product.output().split(text).length - 1

  const [, second] = product.workers()
  kill()
  await until(() => product.workers().length === 2 && count('a worker died') === 1, {
    what: 'a worker of the same version is not replaced',
  })
  expect(product.workers()).toContain(second)

  appendFileSync(join(folder, 'src/server/app.ts'), '\n// Another version.\n')
  kill()
  await until(() => count('files of the product have changed') === 1, { what: 'nothing is said' })
  expect(product.workers()).toHaveLength(1)
  await until(async () => (await product.health()) === 200, { what: 'the other one does not serve' })
  kill()
  expect(await product.exited).toEqual({ code: 1, signal: null })
})
