import type { PoolClient } from 'pg'
import type { Secrets } from '#features/secrets/service.ts'

/** What every part of the demo world is made with. */
export type SeedContext = {
  db: Pick<PoolClient, 'query'>
  secrets: Secrets
  /** The same numbers in every demo world. */
  random: () => number
  now: Date
  upstreamUrl: string
}
