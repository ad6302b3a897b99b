import { expect, it } from 'vitest'
import { restTable } from '#server/rest-table.ts'
import documented from './documented-paths.json' with { type: 'json' }

/** The same route, whatever its parameter is called and with or without a closing slash. */
const route = (key: string) => key.replace(/:\w+/g, ':id').replace(/\/$/, '')

it('serves every documented path that is promised, and no other', () => {
  expect(Object.keys(restTable).map(route).toSorted()).toEqual(documented.served.map(route).toSorted())
})

it('names each documented path once', () => {
  const routes = [...documented.served, ...documented.later].map(route)
  expect(routes.toSorted()).toEqual([...new Set(routes)].toSorted())
})
