import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
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

/** Copies for the wire, made once here instead of at every request. */
function compressFiles(): void {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }
  for (const file of globSync('**/*.{js,css,svg,json}', { cwd: dirname(page) })) {
    const path = join(dirname(page), file)
    const content = readFileSync(path)
    if (content.length < 1000) continue
    writeFileSync(`${path}.br`, brotliCompressSync(content, quality))
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
  }
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
  // Tests have set another mode, in which React's slow development half would be built in.
  if (!run({ command: 'vite', args, env: { NODE_ENV: 'production' } })) return false
  compressFiles()
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, hash)
  return true
}
