import {
  type AccessRow,
  accessTable,
  type Actor,
  actors,
  type Surface,
  expectedOf,
} from '#test/contract/access-table.ts'
import { type Blocks, code, table } from './markdown.ts'

const allowed = new Set(['ok', 'empty'])

/** What a cell says of a call that may be made: whatever it is then refused for has nothing to do with who makes it. */
const shown = (outcome: string): string => (allowed.has(outcome.split(' or ')[0] ?? '') ? 'yes' : code(outcome))

function cell(row: AccessRow, actor: Actor): string {
  const own = shown(expectedOf(row, actor, 'own'))
  if (row.foreign === undefined || actor === 'anonymous' || actor === 'banned') return own
  const outcome = expectedOf(row, actor, 'foreign')
  const foreign = outcome === 'empty' ? 'nothing' : shown(outcome)
  return own === foreign ? own : `${own}; another’s: ${foreign}`
}

const rows = (surface: Surface): string =>
  table(
    ['route', 'may', ...actors],
    Object.entries(accessTable[surface]).map(([route, row]) => [
      code(route),
      row.role,
      ...actors.map((actor) => cell(row, actor)),
    ]),
  )

export const accessBlocks: Blocks = {
  procedures: () => rows('procedures'),
  rest: () => rows('rest'),
  relay: () => rows('relay'),
}
