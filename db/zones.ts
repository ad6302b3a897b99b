import type { Pool } from 'pg'

/** Every name of a zone of time that the database knows. */
export type Zones = ReadonlySet<string>

/** Read once in the life of a process: each reading opens the hundreds of files that the names stand for. */
export function zonesOf(pool: Pool): () => Promise<Zones> {
  let zones: Promise<Zones> | undefined
  const read = async (): Promise<Zones> => {
    const { rows } = await pool.query<{ name: string }>('select name from pg_timezone_names')
    return new Set(['UTC', ...rows.map(({ name }) => name)])
  }
  return () => {
    zones ??= read().catch((error: unknown) => {
      zones = undefined
      throw error
    })
    return zones
  }
}
