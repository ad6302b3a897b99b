import { logType } from '#core/statuses.ts'
import type { UserDeps } from '#features/deps.ts'
import { addCommon, addOwn, addTimes, createConditions } from './conditions.ts'
import type { LogFilters, OwnLogFilters, summedBy } from './schema.ts'
import { resolveNames, tiedTo } from './service.ts'
import { readInTime } from './timed-query.ts'

type By = { by: (typeof summedBy)[number] }

/** What the calls under one name of a session, an agent or a project came to. */
export type NameSum = {
  name: string
  calls: number
  quota: number
  promptTokens: number
  cachedTokens: number
  completionTokens: number
  /** Of the latest call. */
  latest: Date
}

/** The most expensive come first, at most a page of them. */
const mostNames = 20

export const ownNameSums = (deps: UserDeps, input: OwnLogFilters & By): Promise<NameSum[]> =>
  sumsOf(deps, { ...tiedTo(deps.actor.id, input), by: input.by })

export async function nameSums(deps: UserDeps, input: LogFilters & By): Promise<NameSum[]> {
  const filters = await resolveNames(deps, input)
  return filters ? sumsOf(deps, filters) : []
}

type Row = {
  name: string
  calls: string
  quota: string
  prompt: string
  cached: string
  completion: string
  latest: Date
}

const sumsOf = (deps: UserDeps, { by, ...filters }: LogFilters & By): Promise<NameSum[]> =>
  readInTime(deps.database.pool, async (query) => {
    const conditions = createConditions()
    conditions.add((value) => `l.type = ${value}`, logType.consume)
    addCommon(conditions, filters)
    addOwn(conditions, filters)
    addTimes(conditions, filters)
    conditions.add((value) => `l.other ? ${value}`, by)
    const rows = await query<Row>(
      `select l.other->>'${by}' as name, count(*) as calls, sum(l.quota) as quota, sum(l.prompt_tokens::bigint) as prompt,
         sum(coalesce((l.other->>'cache_tokens')::bigint, 0)) as cached, sum(l.completion_tokens::bigint) as completion,
         max(l.created_at) as latest
       from logs l${conditions.where()} group by 1 order by sum(l.quota) desc, 1 limit ${mostNames}`,
      conditions.values(),
    )
    return rows.map(({ name, latest, ...sums }) => ({
      name,
      calls: Number(sums.calls),
      quota: Number(sums.quota),
      promptTokens: Number(sums.prompt),
      cachedTokens: Number(sums.cached),
      completionTokens: Number(sums.completion),
      latest,
    }))
  })
