import type { Route } from '#rest/route.ts'
import type { Services } from '#features/deps.ts'
import type { Api } from '../app-router.ts'
import type { Schema } from './types.ts'

type ObjectSchema = { properties?: Record<string, Schema>; required?: string[] }

/** The body of a success. */
export function replyOfRow(route: Route<Api, Services>): Schema {
  if (route.kind === 'raw') return {}
  const { reply, topLevel, envelope } = route
  const beside: ObjectSchema = topLevel?.schema ?? {}
  const isPlain = envelope === 'plain'
  return {
    type: 'object',
    properties: {
      ...(isPlain ? { success: { const: true } } : {}),
      message: isPlain ? { type: 'string' } : { const: 'success' },
      ...beside.properties,
      ...(reply.schema ? { data: reply.schema } : {}),
    },
    // What stands beside the data may be a `success` of its own.
    required: [
      ...new Set([
        ...(isPlain ? ['success', 'message'] : ['message']),
        ...(beside.required ?? []),
        ...(reply.schema && !reply.isOptional ? ['data'] : []),
      ]),
    ],
  }
}
