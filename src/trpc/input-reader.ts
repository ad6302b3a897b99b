/**
 * Reads untrusted superjson. The library rebuilds whatever the annotations name, out of whatever stands beside
 * them: a typed array of four thousand million places out of `{"length":4e9}`, a number of ten million digits. Inputs need
 * dates, `undefined` and the numbers JSON cannot write, so that these alone are known here, and each is checked before it
 * is made. Annotations that say which objects were one and the same are not needed and not read.
 */

type Holder = Record<string, unknown>

/** Far more than any form has of dates and empty fields. */
const mostAnnotations = 2000
/** Steps from the root to what an annotation speaks of. */
const deepestPath = 32
/** An instant in ISO form has 24 or 27 characters. */
const longestDate = 40

const oddNumbers = new Set<unknown>(['NaN', 'Infinity', '-Infinity', '-0'])

/** Names that lead out of an object into what it inherits. */
const forbiddenNames = new Set(['__proto__', 'prototype', 'constructor'])

export class UnreadableInput extends Error {
  override name = 'UnreadableInput'
}

const refuse = (why: string): never => {
  throw new UnreadableInput(why)
}

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null

/** @throws {UnreadableInput} for whatever is not the form of our own clients */
export function readInput(payload: unknown): unknown {
  if (!isHolder(payload) || Array.isArray(payload) || !Object.hasOwn(payload, 'json'))
    return refuse('the input is not in the form of superjson')
  const { meta } = payload
  const root: Holder = { json: payload['json'] }
  if (meta === undefined || meta === null) return root['json']
  if (!isHolder(meta)) return refuse('the annotations are no object')
  const annotations = Object.hasOwn(meta, 'values') ? meta['values'] : undefined
  if (annotations !== undefined && annotations !== null) {
    annotate({ holder: root, name: 'json', tree: annotations, depth: 0 }, { left: mostAnnotations })
  }
  return root['json']
}

/** The value that a branch of the annotations speaks of: field `name` of `holder`. */
type Branch = { holder: Holder; name: string; tree: unknown; depth: number }

function annotate(branch: Branch, budget: { left: number }): void {
  const { tree } = branch
  budget.left -= 1
  if (budget.left < 0) return refuse('too many annotations')
  if (Array.isArray(tree)) {
    // What dates and numbers are made of has no parts that could be annotated in turn.
    if (tree.length !== 1) return refuse('an annotation is not known')
    branch.holder[branch.name] = revive(tree[0], branch.holder[branch.name])
    return
  }
  if (!isHolder(tree)) return refuse('the annotations cannot be read')
  for (const path of Object.keys(tree)) annotate(follow(branch, path, tree[path]), budget)
}

/** Goes along a path such as `filter.0.start`, in which a backslash takes the dot behind it for a letter. */
function follow({ holder, name, depth }: Branch, path: string, tree: unknown): Branch {
  if (path.length > 1000) return refuse('a path of the annotations is too long')
  let at = { holder, name }
  const steps = stepsOf(path)
  if (depth + steps.length > deepestPath) return refuse('a path of the annotations is too long')
  for (const step of steps) {
    const next = at.holder[at.name]
    if (!isHolder(next) || forbiddenNames.has(step) || !Object.hasOwn(next, step))
      return refuse('a path of the annotations leads nowhere')
    if (Array.isArray(next) && step === 'length') return refuse('a path of the annotations leads nowhere')
    at = { holder: next, name: step }
  }
  return { ...at, tree, depth: depth + steps.length }
}

const stepsOf = (path: string): string[] => {
  const steps: string[] = []
  let step = ''
  for (let at = 0; at < path.length; at += 1) {
    const letter = path[at] as string
    if (letter === '\\') {
      at += 1
      step += path[at] ?? ''
    } else if (letter === '.') {
      steps.push(step)
      step = ''
    } else step += letter
  }
  return [...steps, step]
}

function revive(kind: unknown, value: unknown): unknown {
  switch (kind) {
    case 'undefined':
      return value === null ? undefined : refuse('what is undefined has no value')
    case 'Date':
      return typeof value === 'string' && value.length <= longestDate ? new Date(value) : refuse('a date is none')
    case 'number':
      return oddNumbers.has(value) ? Number(value) : refuse('a number is none')
    default:
      return refuse('an annotation is not known')
  }
}
