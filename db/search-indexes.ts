import type { PoolClient } from 'pg'
import { advisoryLock } from './advisory-locks.ts'

/**
 * Indexes that only make a search quick. Inside a migration they would keep everybody from writing to their table for as long as
 * they are built, which is seconds at a million rows; so they are built beside whatever goes on once the schema stands.
 */
const searchIndexes: Readonly<Record<string, string>> = {
  users_letters_index: '"users" using gin (name_letters("username", "email", "display_name"))',
  users_former_name_index: String.raw`"users" (regexp_replace("username", ' \(deleted \d+\)$', '')) where "deleted_at" is not null`,
  audit_entries_search_index:
    '"audit_entries" using gin ("target_name" gin_trgm_ops, "actor_name" gin_trgm_ops, "reason" gin_trgm_ops, "target_id" gin_trgm_ops)',
}

/** An old transaction may last: without the index a search is slow, which the next start repairs. */
const longestWait = '60s'

/** What an upgrade is at, for whoever wonders why it takes so long. */
export type Report = (message: string, facts: Record<string, string>) => void

type Wanted = { name: string; columns: string; report: Report }

/** Whether the index exists and is complete; undefined where there is none. What was broken off leaves one that nobody reads. */
async function stateOf(client: PoolClient, name: string): Promise<boolean | undefined> {
  const { rows } = await client.query<{ complete: boolean }>(
    'select indisvalid and indisready as complete from pg_index where indexrelid = to_regclass($1)',
    [name],
  )
  return rows[0]?.complete
}

async function build(client: PoolClient, { name, columns, report }: Wanted): Promise<void> {
  const state = await stateOf(client, name)
  if (state === true) return
  report('building an index', { index: name })
  if (state === false) await client.query(`drop index concurrently if exists "${name}"`)
  await client.query(`create index concurrently "${name}" on ${columns}`)
}

/**
 * Builds what is missing. One process does, and nobody waits for it: whoever waited inside a statement would be waited for by
 * the index in turn.
 */
export async function buildSearchIndexes(client: PoolClient, report: Report): Promise<void> {
  const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
    advisoryLock.searchIndexes,
  ])
  if (rows[0]?.mine !== true) return
  try {
    await client.query(`set lock_timeout = '${longestWait}'`)
    for (const [name, columns] of Object.entries(searchIndexes)) {
      await build(client, { name, columns, report }).catch((error: unknown) => {
        if (!isRefused(error)) throw error
      })
    }
  } finally {
    await client.query('reset lock_timeout')
    await client.query('select pg_advisory_unlock($1)', [advisoryLock.searchIndexes])
  }
}

/**
 * Somebody else needed the table for long (`lock_not_available`, or a circle that the database broke), a limit of the role's own was
 * reached, the table belongs to another role, or the database knows no trigrams (`undefined_object`): no reason to keep the gateway
 * from starting.
 */
const isRefused = (error: unknown): boolean =>
  ['55P03', '40P01', '57014', '42501', '42704'].includes((error as { code?: string }).code ?? '')
