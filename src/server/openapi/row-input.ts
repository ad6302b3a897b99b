import { z } from 'zod'
import type { RestRequest, Route } from '#rest/route.ts'
import type { Api } from '../app-router.ts'
import type { Services } from '#features/deps.ts'
import type { Schema } from './types.ts'

type Named = Record<string, { schema: Schema; required: boolean }>
type Source = 'params' | 'query' | 'body'
type Given = Partial<Record<Source, object>>
type Sample = string | number[]

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** Each shows itself in one kind of field: numbers and texts, switches that are on or off without it, lists. */
const samples: Sample[] = ['7', '0', '1', [7]]

/** A row renames what it reads: which of its names becomes which field of the input is found by sending each alone. */
export function inputOfRow(route: Route<Api, Services>, input: z.ZodType | undefined): Record<Source, Named> {
  const read = { params: new Set<string>(), query: new Set<string>(), body: new Set<string>() }
  const watched = (names: Set<string>) =>
    new Proxy({}, { get: (_, name) => void (typeof name === 'string' && names.add(name)) })
  const asked = { params: watched(read.params), query: watched(read.query), body: watched(read.body) }
  const empty = inputFrom(route, asked)
  const schema = input && jsonSchemaOf(input)
  const missing = input ? missingFields(input, empty) : []
  const describe = (from: Source): Named =>
    Object.fromEntries(
      [...read[from]].map((name) => {
        const changes = samples
          .filter((sample) => from === 'body' || typeof sample === 'string')
          .flatMap((sample) =>
            changesOf(empty, inputFrom(route, { [from]: { [name]: sample } })).map((change) => ({ sample, ...change })),
          )
        const found = changes.find(({ sample, value }) => carries(value, sample))
        const path = found?.path ?? []
        const field = schema && path.length > 0 ? fieldOf(schema, path) : counted(changes)
        const required = path.length === 1 && missing.includes(path[0] ?? '')
        return [name, { schema: onTheWire(field, from, typeof found?.sample === 'string'), required }]
      }),
    )
  return { params: describe('params'), query: describe('query'), body: describe('body') }
}

/** Pages that are counted from another number arrive as numbers too. */
const counted = (changes: Change[]): Schema =>
  changes.length > 0 && changes.every(({ value }) => typeof value === 'number') ? { type: 'integer' } : {}

/** A field that got something else than what was sent has another form than what is sent. */
const carries = (value: unknown, sample: Sample): boolean => {
  const sent = String(sample)
  if (sample === '0' || sample === '1') return typeof value === 'boolean'
  if (value instanceof Date) return value.getTime() === Number(sent) * 1000
  return Array.isArray(value) ? value.length === 1 && String(value[0]) === sent : String(value) === sent
}

/** The input that the row would call its procedure with; undefined where it refuses what it was given. */
function inputFrom(route: Route<Api, Services>, given: Given): unknown {
  if (route.kind === 'raw') return undefined
  let input: unknown
  const api: unknown = new Proxy(() => {}, {
    get: (_, name) => (name === 'then' ? undefined : api),
    apply: (_target, _this, [sent]) => {
      input = sent
      return Promise.resolve()
    },
  })
  try {
    void route.call(api as Api, { params: {}, query: {}, body: {}, ...given } as RestRequest).catch(() => {})
  } catch {
    // A sample may be refused; another is tried.
  }
  return input
}

type Change = { path: string[]; value: unknown }

function changesOf(before: unknown, after: unknown): Change[] {
  if (!isRecord(before) || !isRecord(after)) return []
  return Object.entries(after).flatMap(([name, value]): Change[] => {
    if (JSON.stringify(value) === JSON.stringify(before[name])) return []
    if (!isRecord(value) || !isRecord(before[name])) return [{ path: [name], value }]
    return changesOf(before[name], value).map((deeper) => ({ ...deeper, path: [name, ...deeper.path] }))
  })
}

function missingFields(input: z.ZodType, empty: unknown): string[] {
  try {
    return input.safeParse(empty).error?.issues.map(({ path }) => String(path[0])) ?? []
  } catch {
    // It can only be checked by asking the database.
    return []
  }
}

export const jsonSchemaOf = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'date')
        Object.assign(jsonSchema, { type: 'integer', description: 'seconds since 1970' })
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      // Classes of characters by name are of no regular expression that every reader of the document knows.
      if (jsonSchema.pattern)
        jsonSchema.pattern = jsonSchema.pattern.replace('\\P{Cc}', '[^\\u0000-\\u001f\\u007f-\\u009f]')
    },
  }) as Schema

function fieldOf(schema: Schema, path: readonly string[]): Schema {
  let field: unknown = schema
  for (const name of path)
    field = isRecord(field) && isRecord(field['properties']) ? field['properties'][name] : undefined
  // A schema that names a part of its own whole means nothing outside it.
  return isRecord(field) && !JSON.stringify(field).includes('"$ref"') ? field : {}
}

/** Addresses carry texts, and a list is also taken with commas between its items. */
function onTheWire(field: Schema, from: Source, readsText: boolean): Schema {
  const commas = { type: 'string', description: 'items with commas between them' }
  if (field['type'] === 'array') {
    if (from !== 'body') return commas
    return readsText ? { anyOf: [field, commas] } : field
  }
  return from !== 'body' && Object.keys(field).length === 0 ? { type: 'string' } : field
}
