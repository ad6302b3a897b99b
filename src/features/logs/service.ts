import type { Pool } from 'pg'
import { DomainError } from '#core/errors.ts'
import type { Page } from '#core/paging.ts'
import { logType } from '#core/statuses.ts'
import { Token } from '#db/entities/token.ts'
import type { Deps, UserDeps } from '#features/deps.ts'
import { sha256 } from '#features/secrets/service.ts'
import {
  addCommon,
  addIds,
  addOwn,
  addTimes,
  type Conditions,
  createConditions,
  hasPattern,
  patternOf,
} from './conditions.ts'
import { accountsNamed } from '../users/service/named-accounts.ts'
import { type IdRange, idsBetween, modelsLike } from './rollup.ts'
import {
  type ListLogs,
  listOwnLogs as ownLogsInput,
  type LogFilters,
  type LogsByKey,
  type OneLog,
  type OwnLogFilters,
} from './schema.ts'
import { type Query, readInTime } from './timed-query.ts'
import { type LogRow, type LogView, toLogView } from './view.ts'

export { clearLogsByHand } from './clear.ts'

/** Counting further would cost more than knowing is worth. */
const mostCounted = 10_000
const mostFound = 100
const mostOfKey = 1000
/** Of each content, as the migration that made the index has it. */
const indexedLength = 60

export type LogPage = Page<LogView> & {
  /** There are more rows than `total` says. */
  isCapped: boolean
  /** Leads to the rows after these; null at the end. */
  nextCursor: string | null
}

const columns = `l.id, l.created_at, l.user_id, l.type, l.content, l.username, l.token_name, l.token_id, l.model_name, l.quota,
  l.prompt_tokens, l.completion_tokens, l.use_time_ms, l.is_stream, l.channel_id, l."group", l.client_ip, l.request_id, l.other, l.cost,
  c.name as channel_name`
const source = 'from logs l left join channels c on c.id = l.channel_id'

/** A user's filters as an administrator's, tied to that user. */
export const tiedTo = <Filters extends object>(userId: number, filters: Filters) => ({
  ...filters,
  username: [],
  userId: [userId],
  channelId: [],
  channelName: [],
})

type Named = Pick<LogFilters, 'username' | 'userId' | 'channelName' | 'channelId'>

/** Filters with users and channels by number, so that an index finds the rows; null when nobody and nothing has such a name. */
export async function resolveNames<Filters extends Named>(
  { database }: Pick<Deps, 'database'>,
  filters: Filters,
): Promise<Filters | null> {
  const { username, channelName } = filters
  const userId = username.length === 0 ? filters.userId : await idsOf(database.pool, accountsNamed, username)
  const channelId = channelName.length === 0 ? [] : await idsOf(database.pool, channelsNamed, channelName)
  const users = filters.userId.length === 0 ? userId : userId.filter((id) => filters.userId.includes(id))
  const channels = [...filters.channelId, ...channelId]
  if (username.length > 0 && users.length === 0) return null
  if (channelName.length > 0 && channels.length === 0) return null
  return { ...filters, userId: users, channelId: channels }
}

const channelsNamed = 'select id from channels where name = any($1::text[])'

/** What is named so, by number. */
export async function idsOf(pool: Pool, named: string, names: readonly string[]): Promise<number[]> {
  // Not by the pool itself, which closes a connection over a text that the database cannot read.
  const rows = await readInTime(pool, (query) => query<{ id: number }>(named, [names]))
  return rows.map(({ id }) => id)
}

/** Filters with what indexes need: models by name, times as a range of ids. Null where no row can fit. */
async function prepared(query: Query, filters: LogFilters): Promise<Prepared | null> {
  const ids = await idsBetween(query, filters)
  if (!hasPattern(filters.modelName)) return { ...filters, ids }
  const models = await modelsLike(query, filters.modelName.map(patternOf))
  if (models === null) return { ...filters, ids }
  return models.length === 0 ? null : { ...filters, ids, modelName: models }
}

type Prepared = LogFilters & { ids: IdRange }

function conditionsOf(filters: Prepared): Conditions {
  const conditions = createConditions()
  addIds(conditions, filters.ids)
  addCommon(conditions, filters)
  addOwn(conditions, filters)
  addTimes(conditions, filters)
  if (filters.type.length > 0) conditions.add((value) => `l.type = any(${value}::int[])`, filters.type)
  return conditions
}

export const listOwnLogs = (deps: UserDeps, input: OwnLogFilters & ListLogs): Promise<LogPage> =>
  pageOf(deps, tiedTo(deps.actor.id, input), { paging: input, role: 0 })

export async function listLogs(deps: UserDeps, input: LogFilters & ListLogs): Promise<LogPage> {
  const filters = await resolveNames(deps, input)
  if (filters) return pageOf(deps, filters, { paging: input, role: deps.actor.role })
  return { items: [], total: 0, page: input.page, pageSize: input.pageSize, isCapped: false, nextCursor: null }
}

const sortColumns = {
  useTime: 'l.use_time_ms',
  quota: 'l.quota',
  promptTokens: 'l.prompt_tokens',
  completionTokens: 'l.completion_tokens',
}

async function pageOf(
  deps: UserDeps,
  unprepared: LogFilters,
  { paging, role }: { paging: ListLogs; role: number },
): Promise<LogPage> {
  const { page, pageSize, cursor } = paging
  const offset = (page - 1) * pageSize
  // Where pages go on behind it, the count is always one ahead of them as long as there is more.
  const most = paging.isDocumented ? Math.max(mostCounted, offset + pageSize) : mostCounted
  const { rows, counted } = await readInTime(deps.database.pool, async (query) => {
    const filters = await prepared(query, unprepared)
    if (!filters) return { rows: [], counted: 0 }
    // Behind what is counted there are no pages; whoever needs more goes by cursor or narrows the filters.
    if (cursor === undefined && offset >= most) return { rows: [], counted: await countUpTo(query, filters, most) }
    const slice = cursor === undefined ? { offset } : { below: idOfCursor(deps, cursor) }
    const order = paging.sort ? `${sortColumns[paging.sort]} ${paging.order}, l.id desc` : 'l.id desc'
    const wanted = { limit: pageSize, order, ...slice }
    const taken = (await highestOf(query, filters, { ...wanted, paging })) ?? (await rowsOf(query, filters, wanted))
    // A page that is not full is the last one: it says itself how many rows there are.
    const isLast = cursor === undefined && taken.length < pageSize && (taken.length > 0 || offset === 0)
    return { rows: taken, counted: isLast ? offset + taken.length : await countUpTo(query, filters, most) }
  })
  const last = rows.at(-1)
  return {
    items: rows.map((row, index) => toLogView(row, { role, number: offset + index + 1 })),
    total: paging.isDocumented ? counted : Math.min(counted, most),
    page,
    pageSize,
    isCapped: counted > most,
    nextCursor: last && rows.length === pageSize && !paging.sort ? deps.secrets.encrypt(last.id) : null,
  }
}

/** From where on rows stand in the indexes of what they are sorted by. */
const indexedFrom = { useTime: 60_000, quota: 250_000, promptTokens: 100_000, completionTokens: 8000 }

/** A page of the highest values by their index alone; undefined where so many are not that high. */
async function highestOf(
  query: Query,
  filters: Prepared,
  { paging: { sort, order }, ...slice }: Slice & { paging: ListLogs },
): Promise<LogRow[] | undefined> {
  if (!sort || order === 'asc') return undefined
  const rows = await rowsOf(query, filters, {
    ...slice,
    atLeast: { column: sortColumns[sort], value: indexedFrom[sort] },
  })
  return rows.length === slice.limit ? rows : undefined
}

async function countUpTo(query: Query, filters: Prepared, most: number): Promise<number> {
  const conditions = conditionsOf(filters)
  const [row] = await query<{ count: string }>(
    `select count(*) from (select 1 from logs l${conditions.where()} limit ${most + 1}) counted`,
    conditions.values(),
  )
  return Number(row?.count ?? 0)
}

type Slice = {
  limit: number
  order: string
  offset?: number
  below?: number
  atLeast?: { column: string; value: number }
}

async function rowsOf(query: Query, filters: Prepared, slice: Slice): Promise<LogRow[]> {
  const conditions = conditionsOf(filters)
  const { atLeast } = slice
  if (atLeast) conditions.add((value) => `${atLeast.column} >= ${value}`, atLeast.value)
  if (slice.below !== undefined) conditions.add((value) => `l.id < ${value}`, slice.below)
  // Channels are looked up for the page alone, not for every row that is sorted.
  return query<LogRow>(
    `select ${columns} from (
       select * from logs l${conditions.where()} order by ${slice.order} limit ${slice.limit} offset ${slice.offset ?? 0}
     ) l left join channels c on c.id = l.channel_id order by ${slice.order}`,
    conditions.values(),
  )
}

/** Cursors are sealed, because an id reveals how many rows there are. */
function idOfCursor({ secrets }: Pick<Deps, 'secrets'>, cursor: string): number {
  try {
    return Number(secrets.decrypt(cursor))
  } catch (cause) {
    throw new DomainError('input.invalid', { detail: 'cursor' }, { cause })
  }
}

/** The newest rows whose type is the keyword; an administrator also finds those whose text begins with it. */
export async function searchLogs(deps: UserDeps, { keyword }: { keyword: string }): Promise<LogView[]> {
  if (keyword === '') return []
  const type = typeOf(keyword)
  const rows = await readInTime(deps.database.pool, async (query) => {
    const ofText = await newestOf(query, (conditions) => {
      const beginning = (text: string): string => `${text.replace(/[\\%_]/g, '\\$&')}%`
      // The index holds how texts begin; a longer keyword is compared once more.
      const indexed = `l.content <> '' and left(l.content, ${indexedLength}) like`
      conditions.add((value) => `${indexed} ${value}`, beginning(keyword.slice(0, indexedLength)))
      if (keyword.length > indexedLength) conditions.add((value) => `l.content like ${value}`, beginning(keyword))
    })
    if (type === undefined) return ofText
    const ofType = await query<LogRow>(
      `select ${columns} ${source} where l.type = $1 order by l.id desc limit ${mostFound}`,
      [type],
    )
    const all = new Map([...ofText, ...ofType].map((row) => [Number(row.id), row]))
    return [...all.values()].toSorted((left, right) => Number(right.id) - Number(left.id)).slice(0, mostFound)
  })
  return rows.map((row, index) => toLogView(row, { role: deps.actor.role, number: index + 1 }))
}

/** So many rows are sorted at once. */
const mostSorted = 3000
const firstIdsSearched = 10_000

/**
 * The newest rows of a condition whose index does not know their order. Few are sorted; of a condition that many fit, the newest
 * stand among the highest ids.
 */
async function newestOf(query: Query, narrow: (conditions: Conditions) => void): Promise<LogRow[]> {
  const conditions = createConditions()
  narrow(conditions)
  const [sample] = await query<{ count: string }>(
    `select count(*) from (select 1 from logs l${conditions.where()} limit ${mostSorted + 1}) counted`,
    conditions.values(),
  )
  if (Number(sample?.count) <= mostSorted) {
    return query<LogRow>(
      `select ${columns} from (select * from logs l${conditions.where()} offset 0) l
         left join channels c on c.id = l.channel_id order by l.id desc limit ${mostFound}`,
      conditions.values(),
    )
  }
  const [newest] = await query<{ id: string }>('select max(id) as id from logs', [])
  const last = Number(newest?.id)
  for (let ids = firstIdsSearched; ; ids *= 8) {
    const among = createConditions()
    narrow(among)
    addIds(among, { first: last - ids + 1 })
    const rows = await query<LogRow>(
      `select ${columns} ${source}${among.where()} order by l.id desc limit ${mostFound}`,
      among.values(),
    )
    if (rows.length === mostFound || ids >= last) return rows
  }
}

export async function searchOwnLogs(deps: UserDeps, { keyword }: { keyword: string }): Promise<LogView[]> {
  const type = typeOf(keyword)
  if (type === undefined) return []
  const rows = await readInTime(deps.database.pool, (query) =>
    query<LogRow>(
      `select ${columns} ${source} where l.user_id = $1 and l.type = $2 order by l.id desc limit ${mostFound}`,
      [deps.actor.id, type],
    ),
  )
  return rows.map((row, index) => toLogView(row, { role: 0, number: index + 1 }))
}

const typeOf = (keyword: string): number | undefined => (/^[0-6]$/.test(keyword) ? Number(keyword) : undefined)

/** A page of the calls with one of the caller's own keys, with or without `sk-`. @throws {DomainError} log.key_unknown */
export async function listLogsOfKey(deps: UserDeps, { key, page }: LogsByKey): Promise<LogPage> {
  const keyHash = sha256(key.replace(/^sk-/, ''))
  const token = await deps.em.findOne(
    Token,
    { keyHash, userId: deps.actor.id, deletedAt: null },
    { disableIdentityMap: true },
  )
  if (!token) throw new DomainError('log.key_unknown')
  return listOwnLogs(deps, ownLogsInput.parse({ tokenId: [token.id], page, pageSize: mostOfKey, isDocumented: true }))
}

/**
 * One row in full. Of a request, the row that charged it comes before those of its failed attempts.
 * @throws {DomainError} not_found
 */
export async function getLog(deps: UserDeps, input: OneLog): Promise<LogView> {
  return one(deps, deps.actor.role, (conditions) => {
    if ('requestId' in input) conditions.add((value) => `l.request_id = ${value}`, input.requestId)
    else conditions.add((value) => `l.id = ${value}`, input.id)
  })
}

/** @throws {DomainError} not_found */
export async function getOwnLog(deps: UserDeps, { requestId }: { requestId: string }): Promise<LogView> {
  return one(deps, 0, (conditions) => {
    conditions.add((value) => `l.request_id = ${value}`, requestId)
    conditions.add((value) => `l.user_id = ${value}`, deps.actor.id)
  })
}

async function one({ database }: UserDeps, role: number, narrow: (conditions: Conditions) => void): Promise<LogView> {
  const conditions = createConditions()
  narrow(conditions)
  const [row] = await readInTime(database.pool, (query) =>
    query<LogRow>(
      `select ${columns} ${source}${conditions.where()} order by (l.type = ${logType.consume}) desc, l.id desc limit 1`,
      conditions.values(),
    ),
  )
  if (!row) throw new DomainError('not_found')
  return toLogView(row, { role, number: 1 })
}
