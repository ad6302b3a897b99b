import { has, numberOf, type DirectiveName, type Directives } from './directives.ts'
import type { Failure } from './prompt.ts'

const failing: DirectiveName[] = [
  'status',
  'reset',
  'hang',
  'cut',
  'fin',
  'stall',
  'malformed',
  'errorevent',
  'empty',
  'html',
  'error200',
  'endless',
  'bomb',
]

/** Counts requests by key and directive text, for `fail=N` and `every=N`. */
export function createFailureCounter() {
  const counts = new Map<string, number>()
  return {
    clear: () => counts.clear(),
    /** The directives that hold for this request. */
    apply(directives: Directives, key: string): Directives {
      const first = numberOf(directives, 'fail')
      const every = numberOf(directives, 'every')
      if (first === undefined && every === undefined) return directives
      const name = `${key} ${JSON.stringify(directives)}`
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      const hit = (first !== undefined && count <= first) || (every !== undefined && count % every === 0)
      if (!hit) return Object.fromEntries(Object.entries(directives).filter(([each]) => !isFailing(each)))
      return failing.some((each) => has(directives, each)) ? directives : { ...directives, status: '500' }
    },
  }
}

const isFailing = (name: string) => failing.some((each) => each === name)

/** The failure that the directives describe; used for `status`, `error200` and `errorevent`. */
export function failureOf(directives: Directives): Failure {
  const status = numberOf(directives, 'status') ?? 500
  return {
    status,
    message: directives['message'] ?? `Simulated failure ${status}.`,
    type: directives['type'],
    code: directives['code'],
  }
}
