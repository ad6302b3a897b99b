import type { UserDeps } from '#features/deps.ts'
import type { Suggest } from './schema.ts'
import { readInTime } from './timed-query.ts'

export type Suggestion = { value: string; note: string }

const most = 20

/** Of what an administrator may filter by: names that hold the text, those that begin with it first. */
const sources: Record<Suggest['field'], string> = {
  user: `select username as value, display_name as note from users where username ilike $1 or display_name ilike $1 or email ilike $1`,
  channel: `select name as value, '#' || id as note from channels where name ilike $1 or id::text = $2`,
  token: `select name as value, '' as note from tokens where deleted_at is null and name ilike $1 group by name`,
  model: `select a.model as value, '' as note from abilities a where a.model ilike $1 group by a.model`,
}

const own: Record<'token' | 'model', string> = {
  token: `select name as value, '' as note from tokens where deleted_at is null and user_id = $3 and name ilike $1 group by name`,
  model: `select model_name as value, '' as note from usage_hourly where user_id = $3 and model_name ilike $1 group by model_name`,
}

export const suggest = (deps: UserDeps, input: Suggest): Promise<Suggestion[]> =>
  find(deps, sources[input.field], input)

export const suggestOwn = (deps: UserDeps, input: { field: 'token' | 'model'; text: string }): Promise<Suggestion[]> =>
  find(deps, own[input.field], input)

function find(deps: UserDeps, source: string, { text }: { text: string }): Promise<Suggestion[]> {
  const escaped = text.replace(/[\\%_]/g, '\\$&')
  const values: unknown[] = [`%${escaped}%`, text, deps.actor.id]
  // Each source names those of the three that it needs; the others are named here, for their types.
  return readInTime(deps.database.pool, (query) =>
    query<Suggestion>(
      `select value, note from (${source}) found where $2::text is not null and $3::int is not null
       order by (value ilike $4) desc, length(value), value limit ${most}`,
      [...values, `${escaped}%`],
    ),
  )
}
