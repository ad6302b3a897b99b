import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { createSecrets } from './features/secrets/service.ts'

/** The key that secrets are encrypted under: the operator's, else one made once and kept beside the data. */
export async function readSecretKey(given: string | undefined, dataDir: string): Promise<string> {
  if (given !== undefined) return given
  const path = join(dataDir, 'secret-key')
  const known = await readFile(path, 'utf8').catch(() => null)
  if (known) return known.trim()
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const made = randomBytes(32).toString('base64url')
  // Of two first starts at once one writes; both then read what stands there.
  await writeFile(path, `${made}\n`, { mode: 0o600, flag: 'wx' }).catch(() => {})
  return (await readFile(path, 'utf8')).trim()
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
    // Told below.
  }
  throw new Error(
    'SECRET_KEY is not the key this data was written with. Start with the former key (the file secret-key in the data folder, if none was set).',
  )
}
