import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

// Writes what a process that serves is made of into a folder, as JavaScript: `node scripts/strip-types.ts <from> <to>`. Types become
// blanks, so lines and columns in traces stay those of the sources. A process of its own, because what strips takes memory.

const [from = '', to = ''] = process.argv.slice(2)

const isPart = (path: string): boolean => /\.(?:ts|json|sql)$/.test(path) && !/\.test\.ts$|__fixtures__/.test(path)

/** Names of files in imports, and of those that threads are started from. */
const named = /((?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*')([^']+)\.ts'/g

mkdirSync(dirname(to), { recursive: true })
const folder = mkdtempSync(`${to}-`)
// Temporary folders are their maker's alone; this one may be made by root, as an image is, and run by somebody else.
chmodSync(folder, 0o777 & ~process.umask())
for (const path of globSync('{src,relay,db}/**/*', { cwd: from }).filter(isPart)) {
  const target = join(folder, path)
  mkdirSync(dirname(target), { recursive: true })
  if (path.endsWith('.ts')) {
    const code = stripTypeScriptTypes(readFileSync(join(from, path), 'utf8')).replace(named, "$1$2.js'")
    writeFileSync(target.replace(/\.ts$/, '.js'), code)
  } else cpSync(join(from, path), target)
}
const { name, type, imports } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as Record<string, unknown>
writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, type, imports }))
try {
  renameSync(folder, to)
} catch {
  // Another start has made the same meanwhile.
  rmSync(folder, { recursive: true })
}
