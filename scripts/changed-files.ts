import { spawnSync } from 'node:child_process'

function git(folder: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', ['-c', 'core.quotePath=false', ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : null
}

const lines = (text: string | null): string[] => (text ? text.split('\n') : [])

/**
 * Where this branch left main, as it was last seen at its origin: commits on a main of one's own differ from it too. On main
 * itself, or without one, its last commit. Null where git has nothing to tell.
 */
function findBase(folder: string): string | null {
  const exists = (name: string): boolean => git(folder, 'rev-parse', '--verify', '--quiet', name) !== null
  const main = ['origin/main', 'main'].find(exists)
  return (main && git(folder, 'merge-base', 'HEAD', main)) || git(folder, 'rev-parse', '--verify', '--quiet', 'HEAD')
}

export type Change = { base: string; files: string[] }

/** Files that differ from main: committed, staged or neither, new ones among them. What was deleted is none. */
export function findChange(folder: string): Change | null {
  const base = findBase(folder)
  if (base === null) return null
  const changed = lines(git(folder, 'diff', '--name-only', '--diff-filter=d', base))
  const added = lines(git(folder, 'ls-files', '--others', '--exclude-standard'))
  return { base, files: [...new Set([...changed, ...added])].toSorted() }
}
