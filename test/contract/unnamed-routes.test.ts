import { expect, test } from 'vitest'
import { routesOf } from './access-table.ts'
import { routesWithoutNamedTest, unnamedRoutes } from './unnamed-routes.ts'

test('a route that no test names is on the list with its reason, and the list names routes alone', () => {
  expect(
    routesWithoutNamedTest().filter((route) => !(route in unnamedRoutes)),
    'write a test that names the route, outside test/contract',
  ).toEqual([])
  const routes = Object.values(routesOf).flatMap((list) => list())
  expect(Object.keys(unnamedRoutes).filter((route) => !routes.includes(route))).toEqual([])
})
