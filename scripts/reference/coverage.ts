import { unnamedRoutes } from '#test/contract/unnamed-routes.ts'
import { type Blocks, code, table } from './markdown.ts'

export const coverageBlocks: Blocks = {
  unnamed: () =>
    table(
      ['route', 'why'],
      Object.entries(unnamedRoutes).map(([route, reason]) => [code(route), reason]),
    ),
}
