import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readBuildId } from '#server/build-id.ts'
import type { main } from '#server/main.ts'
import { root, run } from './steps.ts'

const builds = join(root, 'dist/server')
/** Processes that run an older build may still start threads and workers of it. */
const mostBuilds = 3

/**
 * The folder with the server as plain JavaScript, made anew where the sources differ from what is there. Null where it can
 * neither be found nor made, as in a folder that cannot be written to.
 */
export function buildServer(): string | null {
  const folder = join(builds, readBuildId(root).slice(0, 16))
  if (existsSync(folder)) return folder
  const args = ['--disable-warning=ExperimentalWarning', 'scripts/strip-types.ts', root, folder]
  if (!run({ command: 'node', args }) || !existsSync(folder)) return null
  removeOld()
  return folder
}

function removeOld(): void {
  const newestFirst = readdirSync(builds)
    .map((name) => ({ path: join(builds, name), made: statSync(join(builds, name)).mtimeMs }))
    .toSorted((left, right) => right.made - left.made)
  for (const { path } of newestFirst.slice(mostBuilds)) rmSync(path, { recursive: true, force: true })
}

type Server = { main: typeof main }

/** The server from where it was built, or else from its sources. */
export async function loadServer(folder: string | null): Promise<Server> {
  if (folder === null) return import('#server/main.ts')
  return (await import(pathToFileURL(join(folder, 'src/server/main.js')).href)) as Server
}

/**
 * A third of what a process holds once it serves is garbage of its start, in a young generation that grew by it. Only this kind of
 * collection makes that small again; it takes 0.2 s once, before calls come. Nothing without `--expose-gc`.
 */
export function collectGarbageOfStart(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
