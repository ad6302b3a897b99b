import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/** PostgreSQL refuses to run as root, so root runs it under another name. */
export type Identity = {
  /** What stands in front of each of its programs. */
  command: string[]
  /** Whom its files belong to; undefined: whoever we are. */
  owner?: { uid: number; gid: number }
}

const nobody = { uid: 65_534, gid: 65_534 }

/** Root under another name: files stay root's, and folders that are closed to others are no obstacle. */
const renamedRoot: Identity = {
  command: ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`],
  owner: { uid: 0, gid: 0 },
}

const another = (owner: { uid: number; gid: number }): Identity => ({
  command: ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'],
  owner,
})

const statOf = (path: string) => statSync(path, { throwIfNoEntry: false })

function canEnter({ command }: Identity, path: string): boolean {
  const [program, ...rest] = [...command, 'test', '-x', path] as const
  return spawnSync(program, rest, { cwd: '/', stdio: 'ignore' }).status === 0
}

const withParents = (path: string): string[] =>
  dirname(path) === path ? [path] : [...withParents(dirname(path)), path]

function explain(paths: string[]): never {
  const closed = paths.flatMap(withParents).find((path) => !canEnter(another(nobody), path))
  throw new Error(
    `PostgreSQL does not run as root, and no other user can use ${closed ?? paths.join(' or ')}. ` +
      'Let others enter that folder (chmod o+x), put the project and DATA_DIR somewhere else, start as an ordinary user, or set DATABASE_URL.',
  )
}

/** Chooses whom the database runs as. `reachable` are the paths it must be able to enter. */
export function chooseIdentity(data: string, reachable: string[]): Identity {
  const existing = statOf(data)
  if (process.getuid?.() !== 0) {
    if (existing && process.getuid && existing.uid !== process.getuid()) {
      throw new Error(
        `The database folder ${data} belongs to user ${existing.uid}: start as that user, or move DATA_DIR.`,
      )
    }
    return { command: [] }
  }
  if (process.platform !== 'linux') {
    throw new Error('PostgreSQL does not run as root: start as an ordinary user, or set DATABASE_URL.')
  }
  const householder = statOf(dirname(dirname(data)))
  const candidates = [
    ...(existing && existing.uid !== 0 ? [another(existing)] : []),
    renamedRoot,
    another(nobody),
    ...(householder && householder.uid !== 0 ? [another(householder)] : []),
  ]
  return candidates.find((candidate) => reachable.every((path) => canEnter(candidate, path))) ?? explain(reachable)
}
