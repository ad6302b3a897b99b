import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { root } from '../steps.ts'

/** Seconds that files took in a whole run; those that are not named are short. `npm test -- --record` writes them anew. */
const seconds: Record<string, number> = JSON.parse(readFileSync(new URL('durations.json', import.meta.url), 'utf8'))

type Timed = { path: string; seconds: number }

const isBrowser = ({ path }: Timed): boolean => path.startsWith('test/browser/')

const total = (files: Timed[]): number => files.reduce((sum, file) => sum + file.seconds, 0)

/**
 * The longest first, so that none is begun when everybody else is through; those with a browser, which needs a core for itself,
 * are spread over the others.
 */
export function longestFirst<File extends Timed>(files: File[]): File[] {
  const sorted = files.toSorted((one, other) => other.seconds - one.seconds || (one.path < other.path ? -1 : 1))
  const rows = [sorted.filter(isBrowser), sorted.filter((file) => !isBrowser(file))]
  const wholes = rows.map(total)
  const order: File[] = []
  while (order.length < files.length) {
    // Whichever row has the larger part of its time still before it is next.
    const [browsers = 0, others = 0] = rows.map((row, index) => total(row) / (wholes[index] || 1))
    const next = rows[browsers > others ? 0 : 1]?.shift() ?? rows[0]?.shift()
    if (next) order.push(next)
  }
  return order
}

/** Files with a worker each, those that share workers, then the units. */
const groups = ['isolated', 'system', 'unit']

export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    return groups.flatMap((group) => {
      const members = specifications.filter(({ project }) => project.name === group)
      const timed = members.map((specification) => {
        const path = relative(root, specification.moduleId)
        return { path, seconds: seconds[path] ?? 1, specification }
      })
      return longestFirst(timed).map(({ specification }) => specification)
    })
  }
}
