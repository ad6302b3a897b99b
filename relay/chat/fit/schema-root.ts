import { isObject } from '../json.ts'
import type { JsonSchema } from '../request.ts'

const refused = ['anyOf', 'oneOf', 'allOf', 'enum', 'not'] as const

/** What a reference inside the schema stands for; nothing for one that leads elsewhere. */
export function resolveLocal(reference: string, root: JsonSchema): JsonSchema | undefined {
  const path = reference === '#' ? [] : reference.startsWith('#/') ? reference.slice(2).split('/') : undefined
  let value: unknown = path ? root : undefined
  for (const step of path ?? []) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    const isHolder = isObject(value) || Array.isArray(value)
    value = isHolder && Object.hasOwn(value as object, name) ? Reflect.get(value as object, name) : undefined
  }
  return isObject(value) ? value : undefined
}

type Branch = { properties: Record<string, unknown>; required: Set<string>; isClosed: boolean }

const noBranch: Branch = { properties: {}, required: new Set(), isClosed: false }

const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : []

/** The branch of each schema, the same one for all that refer to it. */
type Seen = Map<JsonSchema, Branch>

function branchOf(given: unknown, root: JsonSchema, seen: Seen): Branch | undefined {
  const reference = isObject(given) ? given['$ref'] : undefined
  const schema = typeof reference === 'string' ? resolveLocal(reference, root) : given
  if (!isObject(schema) || (schema['type'] ?? 'object') !== 'object') return undefined
  const known = seen.get(schema)
  if (known) return known
  const branch = {
    properties: isObject(schema['properties']) ? schema['properties'] : {},
    required: new Set(namesIn(schema['required'])),
    isClosed: schema['additionalProperties'] === false,
  }
  seen.set(schema, branch)
  return branch
}

/** Properties of several schemas; one that differs among them may be as any of them says. */
function unite(list: readonly Record<string, unknown>[]): Record<string, unknown> {
  const found = new Map<string, Map<string, unknown>>()
  for (const properties of list) {
    for (const [name, schema] of Object.entries(properties)) {
      const known = found.get(name) ?? new Map<string, unknown>()
      const text = JSON.stringify(schema)
      if (!known.has(text)) known.set(text, schema)
      found.set(name, known)
    }
  }
  return Object.fromEntries(
    [...found].map(([name, known]) => {
      const [first, ...others] = known.values()
      return [name, others.length === 0 ? first : { anyOf: [first, ...others] }]
    }),
  )
}

/**
 * Parameters whose root is one plain object, for targets that refuse alternatives there: all that any alternative knows, and
 * required what all of them require. `lost` where that says less than the alternatives did.
 */
export function plainRoot(schema: JsonSchema): { schema: JsonSchema; lost: boolean } {
  if (!refused.some((name) => schema[name] !== undefined)) return { schema, lost: false }
  const { anyOf, oneOf, allOf, enum: values, not, ...root } = schema
  const all = Array.isArray(allOf) ? allOf : []
  const either = [anyOf, oneOf].find(Array.isArray) ?? []
  const seen: Seen = new Map()
  // A reference that leads nowhere stands for nothing.
  const own = branchOf({ ...root, type: 'object' }, schema, seen) ?? noBranch
  const together = [...new Set(all.map((each: unknown) => branchOf(each, schema, seen)))]
  const alternatives = [...new Set(either.map((each: unknown) => branchOf(each, schema, seen)))]
  const known = [...new Set([...together, ...alternatives])].filter((branch) => branch !== undefined)
  const required = new Set([own, ...together].flatMap((branch) => [...(branch?.required ?? [])]))
  const [first, ...others] = alternatives
  for (const name of first?.required ?? []) if (others.every((branch) => branch?.required.has(name))) required.add(name)
  const properties = unite([own.properties, ...known.map((branch) => branch.properties)])
  const isClosed = [own, ...known].every((branch) => branch.isClosed || Object.keys(branch.properties).length === 0)
  const lost =
    alternatives.length > 0 ||
    values !== undefined ||
    not !== undefined ||
    together.some((branch) => branch === undefined)
  return {
    schema: {
      ...root,
      type: 'object',
      properties,
      ...(required.size > 0 ? { required: [...required].filter((name) => Object.hasOwn(properties, name)) } : {}),
      ...(isClosed && known.some((branch) => branch.isClosed) ? { additionalProperties: false } : {}),
    },
    lost,
  }
}
