import { spawnSync } from 'node:child_process'
import { realpathSync, statSync } from 'node:fs'

export type Owner = { uid: number; gid: number }

/** As whom the database runs and whom its files belong to; undefined: whoever we are. */
export type Identity = Owner | undefined

/**
 * A number that no account and no service has, so that nobody else's processes may touch the database's. A mere name for
 * root in a user namespace would not do: every file that root may read would be open to the database.
 */
const unnamed: Owner = { uid: 60_850, gid: 60_850 }

/** The one unprivileged account that every system names: what makes the database wants to know its own name. */
export const nobody: Owner = { uid: 65_534, gid: 65_534 }

const canBecome = (owner: Owner): boolean => spawnSync('true', { ...owner, cwd: '/', stdio: 'ignore' }).status === 0

/** Chooses whom the database runs as: never root, whatever privileges we have. */
export function chooseIdentity(data: string): Identity {
  const existing = statSync(data, { throwIfNoEntry: false })
  if (process.getuid?.() !== 0) {
    if (existing && process.getuid && existing.uid !== process.getuid()) {
      throw new Error(
        `The database folder ${data} belongs to user ${existing.uid}: start as root or as that user, or move DATA_DIR.`,
      )
    }
    return undefined
  }
  if (process.platform !== 'linux') {
    throw new Error('PostgreSQL does not run as root: start as an ordinary user, or set DATABASE_URL.')
  }
  const candidates = existing && existing.uid !== 0 ? [{ uid: existing.uid, gid: existing.gid }] : [unnamed, nobody]
  const chosen = candidates.find(canBecome)
  if (chosen) return chosen
  throw new Error(
    'PostgreSQL does not run as root, and root may not start programs as another user here. ' +
      'Start as an ordinary user, or set DATABASE_URL.',
  )
}

/** Gives a folder with everything in it to a user; where links lead stays whose it is. */
export function giveTo(folder: string, { uid, gid }: Owner): void {
  const { status, stderr } = spawnSync('chown', ['-hR', `${uid}:${gid}`, realpathSync(folder)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The database folder ${folder} cannot be given to user ${uid}: ${stderr}`)
}
