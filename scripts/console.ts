import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

const built = join(root, 'dist/client')
/** What the sources were from which a build was made: a part of it, that nobody is sent. */
const stampOf = (folder: string): string => join(folder, '.sources')

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
function compressFiles(folder: string): void {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }
  for (const file of globSync('**/*.{js,css,svg,json}', { cwd: folder })) {
    const path = join(folder, file)
    const content = readFileSync(path)
    if (content.length < 1000) continue
    writeFileSync(`${path}.br`, brotliCompressSync(content, quality))
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
  }
}

/** Puts a whole folder in the place of another, whoever does the same at this moment. A server goes on meanwhile: the former one is deleted afterwards. */
export function replaceFolder(made: string, place: string): void {
  const former = `${made}-former`
  for (let attempts = 1; ; attempts += 1) {
    try {
      renameSync(place, former)
    } catch {
      // There is none, or somebody else is replacing it.
    }
    try {
      return renameSync(made, place)
    } catch (error) {
      // Another has put its own there meanwhile.
      if (attempts === 1000 || !['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(Object(error).code)) throw error
    } finally {
      rmSync(former, { recursive: true, force: true })
    }
  }
}

/** Builds the console unless what is built fits the sources; false where it cannot be built. */
export function buildConsole(): boolean {
  if (!existsSync(join(root, 'client/vite.config.ts'))) return true
  const hash = hashSources()
  if (existsSync(stampOf(built)) && readFileSync(stampOf(built), 'utf8') === hash) return true
  console.log('building the console …')
  // Apart from the one that is served, and from those that others make at the same time.
  const made = `${built}-${process.pid}`
  const args = ['build', '--config', 'client/vite.config.ts', '--logLevel', 'warn', '--outDir', made]
  try {
    // Tests have set another mode, in which React's slow development half would be built in.
    if (!run({ command: 'vite', args, env: { NODE_ENV: 'production' } })) return false
    compressFiles(made)
    writeFileSync(stampOf(made), hash)
    replaceFolder(made, built)
    return true
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
