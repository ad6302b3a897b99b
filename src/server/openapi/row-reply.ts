import type { Route } from '#rest/route.ts'
import type { Services } from '#features/deps.ts'
import type { Api } from '../app-router.ts'
import type { Schema } from './types.ts'

/** Stands for any output: has every field, is a list of itself, and reads as an empty text. */
const anything: unknown = new Proxy(() => {}, {
  get: (_, name) => {
    if (name === Symbol.toPrimitive) return () => ''
    if (name === Symbol.iterator) return () => [anything].values()
    if (name === 'map') return (rename: (item: unknown) => unknown) => [rename(anything)]
    return name === 'then' || name === 'toJSON' ? undefined : anything
  },
  apply: () => anything,
})

/** The names in a reply, by renaming an output that has every field; of their values the row says nothing. */
function shapeOf(value: unknown): Schema {
  if (Array.isArray(value)) return { type: 'array', items: shapeOf(value[0]) }
  if (value === anything || typeof value !== 'object' || value === null) return {}
  const fields = Object.entries(value)
  // A field without a name is one that the output names.
  if (fields.some(([name]) => name === '')) return { type: 'object', additionalProperties: true }
  return { type: 'object', properties: Object.fromEntries(fields.map(([name, field]) => [name, shapeOf(field)])) }
}

function shapeMadeBy(make: () => unknown): Schema | undefined {
  try {
    const value = make()
    return value === undefined ? undefined : shapeOf(value)
  } catch {
    return {}
  }
}

/** The body of a success. */
export function replyOfRow(route: Route<Api, Services>): Schema {
  if (route.kind === 'raw') return {}
  const data = shapeMadeBy(() => route.reply(anything, { params: {}, query: {}, body: {} }))
  const beside = shapeMadeBy(() => route.topLevel(anything))?.['properties'] as Record<string, Schema> | undefined
  const isPlain = route.envelope === 'plain'
  return {
    type: 'object',
    properties: {
      ...(isPlain ? { success: { const: true } } : {}),
      message: isPlain ? { type: 'string' } : { const: 'success' },
      ...beside,
      ...(data === undefined ? {} : { data }),
    },
    required: isPlain ? ['success', 'message'] : ['message'],
  }
}
