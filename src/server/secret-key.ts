import { randomBytes } from 'node:crypto'
import { constants, copyFile, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { createSecrets } from '#features/secrets/service.ts'

/** The key that secrets are encrypted under: the operator's, else one made once and kept beside the data. */
export async function readSecretKey(given: string | undefined, dataDir: string): Promise<string> {
  if (given !== undefined) return given
  const path = join(dataDir, 'secret-key')
  const known = await readKey(path)
  if (known) return known
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  // Written whole under another name first: of two first starts at once one gets the name, and both read a whole key.
  const made = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(made, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
    // Some file systems know no links.
    await link(made, path).catch((error: NodeJS.ErrnoException) =>
      error.code === 'EEXIST' ? undefined : copyFile(made, path, constants.COPYFILE_EXCL),
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(made, { force: true })
  }
  const key = await readKey(path)
  if (!key) throw new Error(`${path} is empty: put the key back that was in it, or remove the file if there was none.`)
  return key
}

/** @returns "" where there is none. What cannot be read is no reason to make another. */
async function readKey(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

const proof = 'the data of this installation'

/** @throws when the data was written under another key: better no start than secrets nobody can read. */
export async function checkSecretKey(pool: Pool, secretKey: string): Promise<void> {
  const secrets = createSecrets(secretKey)
  await pool.query("insert into installation_facts values ('secret_key_proof', $1) on conflict do nothing", [
    secrets.encrypt(proof),
  ])
  const { rows } = await pool.query<{ value: string }>(
    "select value from installation_facts where name = 'secret_key_proof'",
  )
  try {
    if (secrets.decrypt(rows[0]?.value ?? '') === proof) return
  } catch {
    // Reported below.
  }
  throw new Error(
    'SECRET_KEY is not the key this data was written with. Start with the former key (the file secret-key in the data folder, if none was set).',
  )
}
