import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { passwordFile, superuser } from './address.ts'
import { handOver } from './hand-over.ts'
import { giveTo, type Identity, nobody } from './identity.ts'
import { commandOf } from './programs.ts'

const abandonedAfterMilliseconds = 60 * 60_000

/** Two may start at once and either may be killed: only a finished folder gets the name, and the first one wins. */
async function nameIt(made: string, data: string): Promise<void> {
  try {
    await rename(made, data)
  } catch (error) {
    const another = await stat(join(data, 'PG_VERSION')).catch(() => undefined)
    if (!another) throw error
    await rm(made, { recursive: true })
  }
}

async function removeAbandoned(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found && found.mtimeMs < Date.now() - abandonedAfterMilliseconds)
      await rm(join(folder, name), { recursive: true })
  }
}

export type Initialise = { data: string; initdb: string; identity: Identity; password: boolean; testing: boolean }

const base = (made: string) => [
  `--pgdata=${made}`,
  `--username=${superuser.user}`,
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
]

/** Makes the database folder; its text and order are the same on every machine. */
export async function initialise({ data, initdb, identity, password, testing }: Initialise): Promise<void> {
  const prefix = `${basename(data)}.new-`
  await removeAbandoned(dirname(data), prefix)
  const made = await mkdtemp(join(dirname(data), prefix))
  const secret = `${made}.password`
  try {
    if (password) await writeFile(secret, randomBytes(24).toString('base64url'), { mode: 0o600 })
    const paths = password ? [made, secret] : [made]
    const as = identity && nobody
    if (as) await Promise.all(paths.map((path) => chown(path, as.uid, as.gid)))
    const handed = handOver(paths, as)
    const [command, args] = commandOf(initdb, [
      ...base(handed.nameOf(made)),
      ...(password ? ['--auth=scram-sha-256', `--pwfile=${handed.nameOf(secret)}`] : ['--auth=trust']),
      ...(testing ? ['--no-sync'] : []),
    ])
    const child = spawn(command, args, {
      ...as,
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', ...handed.descriptors],
    })
    handed.close()
    const [problem, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')])
    if (code !== 0) throw new Error(`The database could not be made in ${data}: ${problem.trim()}`)
    if (password) await rename(secret, passwordFile(made))
    if (identity) giveTo(made, identity)
    await nameIt(made, data)
  } catch (error) {
    await Promise.all([rm(made, { recursive: true, force: true }), rm(secret, { force: true })])
    throw error
  }
}
