import { clients } from './clients.ts'
import { features } from './features.ts'
import { limits } from './limits.ts'
import type { Cell } from './run.ts'
import { upstreams } from './upstreams.ts'

const table = (rows: string[][]): string => {
  const [head = [], ...others] = rows
  return [head, head.map(() => '---'), ...others].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

export const countOf = (cells: Cell[], kind: Cell['outcome']['kind']): number =>
  cells.filter(({ outcome }) => outcome.kind === kind).length

function mark({ outcome }: Cell): string {
  if (outcome.kind === 'limited') return `${limits.indexOf(outcome.limit) + 1}`
  return outcome.kind === 'passed' ? '✓' : '**fails**'
}

function clientTable(cells: Cell[]): string {
  const rows = upstreams.map(({ id, label }) => [
    label,
    ...features.map((feature) =>
      cells.flatMap((cell) => (cell.upstream === id && cell.feature === feature.id ? [mark(cell)] : [])).join(' '),
    ),
  ])
  return table([['upstream', ...features.map(({ label }) => label)], ...rows])
}

/** The page that stands in docs/matrix.md. */
export function describeMatrix(cells: Cell[]): string {
  const [passed, limited, failed] = [countOf(cells, 'passed'), countOf(cells, 'limited'), countOf(cells, 'failed')]
  const sections = clients.map(
    ({ id, label }) => `## ${label}\n\n${clientTable(cells.filter((cell) => cell.client === id))}`,
  )
  const reasons = limits.map(
    ({ reason, source, loss }, index) =>
      `${index + 1}. ${reason} Source: ${source}.${loss === undefined ? '' : ` The answer says so: \`x-translation-loss: ${loss}\`.`}`,
  )
  return `# What works with what

Written by \`npm run matrix -- --write\`; a test compares it with a run of its own.

Callers' libraries as they are published, the whole gateway, and a simulated provider that speaks each vendor's own form
strictly: its paths, its logins and signatures, its stream framing, and refusals of fields it does not know. A cell passes
when the library returns what the model said (text, calls and their arguments, the answer to their results, the image
seen byte for byte, reasoning, JSON of the schema), whole and streamed, and each answer stands in the log once with its
exact charge and nothing is held. A number names the limit of the vendor or the library that forbids it.

${cells.length} cells: ${passed} pass, ${limited} are limited by the target, ${failed} fail.

${sections.join('\n\n')}

## Limits

${reasons.join('\n')}
`
}
