import type { Services } from '#features/deps.ts'
import { adminProcedure, rootProcedure, userProcedure } from '#features/procedures.ts'
import { createRelayRouter, type RelayServices } from '#relay/index.ts'
import type { RestRequest, Route, RouteTable } from '#rest/route.ts'
import { type Api, appRouter } from '../app-router.ts'

type Procedure = { _def: { type: string; middlewares?: unknown[] } }

const lastStep = (procedure: unknown): unknown => (procedure as Procedure)._def.middlewares?.at(-1)

/** Each role's procedures run that role's check, which is one function for all of them. */
const checks = [
  { role: 'root', check: lastStep(rootProcedure) },
  { role: 'admin', check: lastStep(adminProcedure) },
  { role: 'user', check: lastStep(userProcedure) },
]

export type RouteRow = { path: string; kind: string; role: string }

export const procedureRoutes = (): RouteRow[] =>
  Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>)
    .map(
      ([
        path,
        {
          _def: { type, middlewares },
        },
      ]) => ({
        path,
        kind: type,
        role: checks.find(({ check }) => middlewares?.includes(check))?.role ?? 'anyone',
      }),
    )
    .toSorted((left, right) => left.path.localeCompare(right.path))

/** Which procedure a row is bound to, found out by asking it with nothing behind. */
function boundTo(route: Route<Api, Services>): string {
  if (route.kind === 'raw') return 'its own handler'
  let picked = ''
  const follow = (path: string): unknown =>
    new Proxy(() => {}, {
      get: (_target, name) => {
        picked = path === '' ? String(name) : `${path}.${String(name)}`
        return follow(picked)
      },
      apply: () => Promise.resolve(),
    })
  const nothing: RestRequest = { params: {}, query: {}, body: {} }
  try {
    void route.call(follow('') as Api, nothing).catch(() => {})
  } catch {
    // A row may want more of a request than nothing; by then it has picked its procedure.
  }
  return picked
}

export function routesOfTable(table: RouteTable<Api, Services>): (RouteRow & { procedure: string })[] {
  const roles = new Map(procedureRoutes().map(({ path, role }) => [path, role]))
  return Object.entries(table)
    .map(([row, route]) => {
      const [kind = '', path = ''] = row.split(' ')
      const procedure = boundTo(route)
      return { path, kind, procedure, role: roles.get(procedure) ?? '' }
    })
    .toSorted((left, right) => left.path.localeCompare(right.path) || left.kind.localeCompare(right.kind))
}

type Layer = { route?: { path: string | string[]; methods: Record<string, boolean> } }

/** Building the router asks its services nothing: only calls do. */
export const relayRoutes = (): Pick<RouteRow, 'path' | 'kind'>[] =>
  (createRelayRouter({} as RelayServices).stack as unknown as Layer[])
    .flatMap(({ route }) =>
      route
        ? [route.path].flat().map((path) => ({
            path,
            kind: Object.keys(route.methods)
              .map((name) => (name === '_all' ? 'any' : name.toUpperCase()))
              .join(', '),
          }))
        : [],
    )
    .filter(({ path }) => !path.startsWith('/hf/') && !/^\/v1(beta)?(\/\*path)?$/.test(path))
    .toSorted((left, right) => left.path.localeCompare(right.path))
