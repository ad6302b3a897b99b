import { namingTests, unnamedRoutes } from '#test/contract/unnamed-routes.ts'
import { type Blocks, code, table } from './markdown.ts'
import { ruleCoverageBlocks } from './rules.ts'

export const coverageBlocks: Blocks = {
  ...ruleCoverageBlocks,
  named: () =>
    table(
      ['route', 'test'],
      namingTests().flatMap(([route, file]) => (file === undefined ? [] : [[code(route), code(file)]])),
    ),
  unnamed: () =>
    table(
      ['route', 'why'],
      Object.entries(unnamedRoutes).map(([route, reason]) => [code(route), reason]),
    ),
}
