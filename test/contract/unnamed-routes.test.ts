import { expect, test } from 'vitest'
import { routesWithoutNamedTest, unnamedRoutes } from './unnamed-routes.ts'

test('a route that no test names is on the list with its reason, and the list names such routes alone', () => {
  expect(
    routesWithoutNamedTest(),
    'write a test that names the route, outside test/contract, or take what has one from the list',
  ).toEqual(Object.keys(unnamedRoutes))
})
