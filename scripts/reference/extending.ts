import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../steps.ts'
import type { Blocks } from './markdown.ts'

/** Where a file of the example would stand in the product, and what it would import from there. */
const moves: readonly [RegExp, string][] = [
  [/'\.\/entity\.ts'/g, "'#db/entities/note.ts'"],
  [/'\.\.\/\.\.\/client\//g, "'../../"],
  [/'\.\/trpc\.ts'/g, "'../../lib/trpc.ts'"],
]

const files = {
  entity: 'entity.ts',
  migration: 'migration.sql',
  schema: 'schema.ts',
  view: 'view.ts',
  service: 'service.ts',
  router: 'router.ts',
  rest: 'rest.ts',
  page: 'page.tsx',
} as const

const include = (file: string, isPage: boolean): string => {
  const written = readFileSync(join(root, 'test/extending', file), 'utf8').trimEnd()
  const moved = moves.reduce((text, [from, to]) => text.replace(from, to), written)
  const own = isPage ? moved.replace("'./schema.ts'", "'#features/notes/schema.ts'") : moved
  return `\`\`\`${file.split('.').at(-1)}\n${own}\n\`\`\``
}

/** The example as it is compiled and run by `test/extending`. */
export const extendingBlocks: Blocks = Object.fromEntries(
  Object.entries(files).map(([name, file]) => [name, () => include(file, name === 'page')]),
)
