import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What a process that serves is made of. */
const parts = ['src', 'relay', 'db']

/** A hash over the product's own files: another one where they have changed since. */
export async function readBuildId(folder = root): Promise<string> {
  const hash = createHash('sha256')
  hash.update(await readFile(`${folder}/package.json`))
  for (const part of parts) {
    const names = await readdir(`${folder}/${part}`, { recursive: true })
    for (const name of names.toSorted()) {
      if (!/\.(?:ts|json|sql)$/.test(name) || name.endsWith('.test.ts')) continue
      hash.update(`\n${part}/${name}\n`).update(await readFile(`${folder}/${part}/${name}`))
    }
  }
  return hash.digest('hex')
}
