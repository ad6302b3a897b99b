import type { Services } from '#features/deps.ts'
import { restTable } from '#server/rest-table.ts'
import type { RestRequest, Route } from '#rest/route.ts'
import type { Api } from '#server/app-router.ts'

/** What a row of the table reads, found by having it read nothing. */
export function namesReadBy(route: Route<Api, Services>): { query: string[]; body: string[] } {
  const read = { query: new Set<string>(), body: new Set<string>() }
  if (route.kind === 'raw') return { query: [], body: [] }
  const watched = (names: Set<string>) =>
    new Proxy({}, { get: (_, name) => void (typeof name === 'string' && names.add(name)) })
  const nothing: Api = new Proxy((() => Promise.resolve()) as unknown as Api, {
    get: (_, name) => (name === 'then' ? undefined : nothing),
  })
  const request = { params: {}, query: watched(read.query), body: watched(read.body) } as unknown as RestRequest
  try {
    void route.call(nothing, request).catch(() => {})
  } catch {
    // A row may need more than nothing; what it read until then is enough.
  }
  return { query: [...read.query], body: [...read.body] }
}

export const restRows = () => Object.entries(restTable).map(([key, route]) => ({ key, ...namesReadBy(route) }))
