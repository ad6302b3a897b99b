import { DomainError } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import type { UserDeps } from '../deps.ts'
import { type Conditions, createConditions } from '../logs/conditions.ts'
import { type Query, readInTime } from '../logs/timed-query.ts'
import type { ListEntries } from './schema.ts'
import { type EntryRow, type EntryView, toEntryView } from './view.ts'

export type EntryPage = {
  items: EntryView[]
  hasOlder: boolean
  hasNewer: boolean
}

/** What belongs to an account and is changed by nobody but its owner. */
const owned = ['passkey', 'session', 'token']

/**
 * Root reads everything. Other administrators read nothing about root's own accounts and what belongs to them, and nothing about
 * options, whose values only root may know.
 */
function restrict(conditions: Conditions, role: number): void {
  if (role >= roles.root) return
  conditions.add((value) => `e.target_type <> ${value}`, 'option')
  conditions.add(
    (value) =>
      `not (e.target_type = 'user' and e.target_id in (select u.id::text from users u where u.role >= ${value}))`,
    roles.root,
  )
  const ofRoot = `e.actor_id in (select u.id from users u where u.role >= ${roles.root})`
  conditions.add((value) => `not (e.target_type = any(${value}::text[]) and ${ofRoot})`, owned)
}

function conditionsOf({ actor }: UserDeps, input: Partial<ListEntries>): Conditions {
  const conditions = createConditions()
  restrict(conditions, actor.role)
  if (input.actorId) conditions.add((value) => `e.actor_id = ${value}`, input.actorId)
  if (input.action) conditions.add((value) => `e.action = ${value}`, input.action)
  if (input.targetType) conditions.add((value) => `e.target_type = ${value}`, input.targetType)
  if (input.targetId) conditions.add((value) => `e.target_id = ${value}`, input.targetId)
  if (input.start) conditions.add((value) => `e.created_at >= ${value}`, input.start)
  if (input.end) conditions.add((value) => `e.created_at <= ${value}`, input.end)
  if (input.keyword) {
    const pattern = `%${input.keyword.replace(/[\\%_]/g, '\\$&')}%`
    conditions.add(
      (value) =>
        `(e.target_name ilike ${value} or e.actor_name ilike ${value} or e.reason ilike ${value} or e.target_id ilike ${value})`,
      pattern,
    )
  }
  return conditions
}

const columns = `e.id, e.actor_id, e.actor_name, e.action, e.target_type, e.target_id, e.target_name, e.before, e.after,
  e.reason, e.client_ip, e.created_at`

const select = (query: Query, conditions: Conditions, ending: string): Promise<EntryRow[]> =>
  query<EntryRow>(`select ${columns} from audit_entries e${conditions.where()} ${ending}`, conditions.values())

/** Newest first, by keyset: however long the log, a page costs the same. */
export async function listEntries(deps: UserDeps, input: ListEntries): Promise<EntryPage> {
  return readInTime(deps.database.pool, async (query) => {
    const conditions = conditionsOf(deps, input)
    const { before, after } = input
    if (before !== undefined) conditions.add((value) => `e.id < ${value}`, before)
    if (after !== undefined) conditions.add((value) => `e.id > ${value}`, after)
    const upwards = after !== undefined && before === undefined
    const order = `order by e.id ${upwards ? 'asc' : 'desc'} limit ${input.pageSize + 1}`
    const rows = await select(query, conditions, order)
    const goesOn = rows.length > input.pageSize
    const taken = rows.slice(0, input.pageSize)
    if (upwards) taken.reverse()
    return {
      items: taken.map(toEntryView),
      hasOlder: upwards || goesOn,
      hasNewer: upwards ? goesOn : before !== undefined,
    }
  })
}

/** @throws {DomainError} not_found */
export async function getEntry(deps: UserDeps, { id }: { id: number }): Promise<EntryView> {
  const conditions = conditionsOf(deps, {})
  conditions.add((value) => `e.id = ${value}`, id)
  const [row] = await readInTime(deps.database.pool, (query) => select(query, conditions, ''))
  if (!row) throw new DomainError('not_found')
  return toEntryView(row)
}

/** Every action that was ever recorded, from one place of the index to the next. */
export async function listActions({ actor, database }: UserDeps): Promise<string[]> {
  const rows = await readInTime(database.pool, (query) =>
    query<{ action: string }>(
      `with recursive known as (
         (select action from audit_entries order by action limit 1)
         union all
         select (select e.action from audit_entries e where e.action > known.action order by e.action limit 1)
         from known where known.action is not null
       ) select action from known where action is not null`,
      [],
    ),
  )
  const actions = rows.map(({ action }) => action)
  return actor.role >= roles.root ? actions : actions.filter((action) => !action.startsWith('options.'))
}
