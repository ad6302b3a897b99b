import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { projectFolder } from './project-folder.ts'

/** What a process that serves is made of. */
const parts = ['src', 'relay', 'db']

/** A hash over the product's own files: another one where they have changed since. Only processes that serve nobody ask for it. */
export function readBuildId(folder = projectFolder): string {
  const hash = createHash('sha256')
  hash.update(readFileSync(`${folder}/package.json`))
  for (const part of parts) {
    const names = readdirSync(`${folder}/${part}`, { recursive: true, encoding: 'utf8' })
    for (const name of names.toSorted()) {
      if (!/\.(?:ts|json|sql)$/.test(name) || name.endsWith('.test.ts')) continue
      hash.update(`\n${part}/${name}\n`).update(readFileSync(`${folder}/${part}/${name}`))
    }
  }
  return hash.digest('hex')
}
