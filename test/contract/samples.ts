import { z } from 'zod'
import { appRouter } from '#server/app-router.ts'

/** What `z.toJSONSchema` says of a schema, with instants marked. */
export type JsonSchema = {
  type?: string
  format?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  minItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  exclusiveMinimum?: number
}

const schemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'date') jsonSchema.format = 'instant'
    },
  }) as JsonSchema

type Procedure = { _def: { type: 'query' | 'mutation'; inputs: z.ZodType[] } }

type ProcedureInput = { path: string; type: 'query' | 'mutation'; schema: JsonSchema | null }

/** Every procedure of the console with the form of what it takes. */
export const procedureInputs = (): ProcedureInput[] =>
  Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>).map(([path, { _def }]) => ({
    path,
    type: _def.type,
    schema: _def.inputs[0] ? schemaOf(_def.inputs[0]) : null,
  }))

const texts: Record<string, string> = {
  email: 'someone@example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
  uri: 'https://example.com/',
}

/** The least that the schema takes. */
export function sampleOf(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return sampleOf(choices[0] ?? {})
  if (schema.format === 'instant') return new Date('2026-01-01T00:00:00Z')
  switch (schema.type) {
    case 'string':
      return texts[schema.format ?? ''] ?? 'sample'.padEnd(schema.minLength ?? 0, 'x').slice(0, schema.maxLength)
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1)
    case 'boolean':
      return false
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}))
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name] ?? {})]),
      )
    default:
      return null
  }
}
