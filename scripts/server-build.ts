import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readBuildId } from '#server/build-id.ts'
import type { main } from '#server/main.ts'
import { root, run } from './steps.ts'

const builds = join(root, 'dist/server')
/** Processes that run an older build may still start threads and workers of it. */
const mostBuilds = 3
const dayMs = 86_400_000
const bundler = 'scripts/bundle-server.ts'

/**
 * The folder with the server as plain JavaScript, made anew where the sources differ from what is there. Null where it can
 * neither be found nor made, as in a folder that cannot be written to.
 */
export function buildServer(): string | null {
  const id = idOfSources()
  const folder = join(builds, id)
  if (existsSync(folder)) return folder
  if (!run({ command: 'node', args: [bundler, root, folder] }) || !existsSync(folder)) return null
  // Sources that were replaced meanwhile may have gone into it in part.
  if (idOfSources() !== id) {
    remove(folder)
    return null
  }
  removeOld()
  return folder
}

/** Of what is built, packages included by their versions, and of what builds it. */
function idOfSources(): string {
  const hash = createHash('sha256').update(readBuildId(root))
  return hash
    .update(readFileSync(join(root, bundler)))
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
    .slice(0, 16)
}

/** What ends half removed has no name by which it would be taken for a build. */
function remove(path: string): void {
  try {
    const removed = `${path}-removed-${process.pid}`
    renameSync(path, removed)
    rmSync(removed, { recursive: true, force: true })
  } catch {
    // Another start does the same, or the folder is not ours.
  }
}

/** Builds beyond the newest, and what starts that were killed left beside them. */
function removeOld(): void {
  const found = readdirSync(builds).map((name) => {
    const path = join(builds, name)
    return { path, isBuild: /^[0-9a-f]{16}$/.test(name), made: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }
  })
  const newestFirst = found.filter(({ isBuild }) => isBuild).toSorted((left, right) => right.made - left.made)
  const leftovers = found.filter(({ isBuild, made }) => !isBuild && made < Date.now() - dayMs)
  for (const { path } of [...newestFirst.slice(mostBuilds), ...leftovers]) remove(path)
}

type Server = { main: typeof main }

/** The server from where it was built, or else from its sources. */
export async function loadServer(folder: string | null): Promise<Server> {
  if (folder === null) return import('#server/main.ts')
  return (await import(pathToFileURL(join(folder, 'main.js')).href)) as Server
}
