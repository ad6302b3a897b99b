import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { procedureRoutes, relayRoutes, restRoutes } from '#scripts/route-list.ts'
import { root } from '#scripts/steps.ts'

export const actors = ['anonymous', 'user', 'banned', 'admin', 'root'] as const
export type Actor = (typeof actors)[number]
export type Whose = 'own' | 'foreign'
export type Surface = 'procedures' | 'rest' | 'relay'

/** What comes of an allowed call: one outcome for everybody, or one for each role that has its own; `ok` for the others. */
type Outcomes = string | Readonly<Partial<Record<Actor, string>>>

/**
 * What is expected of one route. `role` is who may call it at all: `token` and `session` are the relay's words for a user.
 * `own` is what comes of it (`ok` unless it says otherwise), `foreign` what comes of it when it is about what belongs to
 * somebody else; a route without `foreign` is about nobody's things.
 */
export type AccessRow = {
  role: 'anyone' | 'user' | 'admin' | 'root' | 'token' | 'session'
  own?: Outcomes
  foreign?: Outcomes
}

type AccessTable = Readonly<Record<Surface, Readonly<Record<string, AccessRow>>>>

export const accessTable = JSON.parse(readFileSync(join(root, 'test/contract/access.json'), 'utf8')) as AccessTable

/** The lanes of drawings are one set of paths under several names. */
export const relayKey = (kind: string, path: string): string =>
  `${kind} ${path.replaceAll('\\', '').replace(/^\/mj-\w+\//, '/:mode/')}`

/** Every route of the product by its surface, under the name that its row has. */
export const routesOf: Readonly<Record<Surface, () => string[]>> = {
  procedures: () => procedureRoutes().map(({ path }) => path),
  rest: () => restRoutes().map(({ kind, path }) => `${kind} ${path}`),
  relay: () => [...new Set(relayRoutes().map(({ kind, path }) => relayKey(kind, path)))],
}

const rank: Readonly<Record<AccessRow['role'] | Actor, number>> = {
  anyone: 0,
  anonymous: 0,
  user: 1,
  banned: 1,
  token: 1,
  session: 1,
  admin: 2,
  root: 3,
}

const outcomeFor = (outcomes: Outcomes | undefined, actor: Actor): string =>
  typeof outcomes === 'string' ? outcomes : (outcomes?.[actor] ?? 'ok')

/** Why the call is refused before anybody looks at what it is about. */
export function refusalOf({ role }: AccessRow, actor: Actor): string | undefined {
  if (role === 'anyone') return undefined
  const isRelay = role === 'token' || role === 'session'
  if (actor === 'anonymous') return role === 'token' ? 'relay.token_missing' : 'session.required'
  if (actor === 'banned') return isRelay ? 'relay.user_banned' : 'session.banned'
  return rank[actor] < rank[role] ? 'session.role_insufficient' : undefined
}

export const expectedOf = (row: AccessRow, actor: Actor, whose: Whose): string =>
  refusalOf(row, actor) ?? outcomeFor(whose === 'own' ? row.own : row.foreign, actor)
