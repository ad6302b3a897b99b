import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, run } from './steps.ts'

/** Everything the built console is made of: its own sources and the pure files it shares with the server. */
const sources = [
  'client/**/*',
  'src/core/**/*.{ts,json}',
  'src/features/*/schema*{,/**/*}.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

const stamp = join(root, 'dist/console.hash')
const page = join(root, 'dist/client/index.html')

function hashSources(): string {
  const hash = createHash('sha256')
  const files = globSync(sources, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of [...new Set(files)].toSorted()) {
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

/** Builds the console unless what is built fits the sources; false where it cannot be built. */
export function buildConsole(): boolean {
  if (!existsSync(join(root, 'client/vite.config.ts'))) return true
  const hash = hashSources()
  if (existsSync(page) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return true
  console.log('building the console …')
  // Gone while it is built, so that a build cut short is done again.
  rmSync(stamp, { force: true })
  const args = ['build', '--config', 'client/vite.config.ts', '--logLevel', 'warn']
  if (!run({ command: 'vite', args })) return false
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, hash)
  return true
}
