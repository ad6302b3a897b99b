import { TRPCError } from '@trpc/server'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { restTable } from '#server/rest-table.ts'
import { appRouter } from '#server/app-router.ts'
import { startConsole } from '#test/support/console-app.ts'
import { namesReadBy } from '../contract/rest-names.ts'
import { recordStatements, shapeOf } from '#test/support/statements.ts'

/**
 * Every parameter of every list and every look-up, found by what the tables themselves read and accept. The mark is in each
 * text, so it shows wherever a text becomes part of a statement instead of a value in it.
 */
const mark = 'zqmark'
const hostile = [
  `' or ${mark} = '1`,
  `1; drop table ${mark}; --`,
  `id desc, (select ${mark} from pg_sleep(60))`,
  `\\' union select ${mark} from users --`,
  `"users"."${mark}"`,
  `%_\\${mark}`,
  `$1 ? ?? {"$gt":"${mark}"} [object Object]`,
  '1e999',
  '-99999999999999999999',
]

/** So many of them are tried in one parameter at a time as well; what the others say they say together. */
const alone = 3

const expectBound = (shapes: string[]) => expect(shapes.filter((shape) => shape.includes(mark))).toEqual([])

const statements = recordStatements()
const app = await startConsole()
const root = await app.person({ role: 100 })
const browser = await app.signedIn(root)
afterAll(async () => {
  statements.stop()
  await app[Symbol.asyncDispose]()
})

/** These act instead of reading: sign out, ask upstreams, change what the others of this test stand on. */
const acts =
  /logout|\/test|update_balance|fetch_models|\/token$|models\/:id|upstream|verification|reset_password|\/aff$|bind/

const lists = Object.entries(restTable).flatMap(([key, route]) => {
  const [method, path = ''] = key.split(' ')
  return method === 'GET' && route.kind === 'bound' && !acts.test(path) ? [[path, route] as const] : []
})

test.each(lists)('GET %s takes whatever stands in a parameter as a value', async (path, route) => {
  const ask = async (query: Record<string, string>, id = '1') => {
    const address = path.replace(':id', encodeURIComponent(id))
    const { result, shapes } = await statements.during(() => browser.get(address, { query }))
    // 403: a provider came back without the state of this browser. 503: the machine was too busy for a statement to end in time; one that
    // a value made so slow has its mark in it.
    expect([200, 400, 403, 404, 503]).toContain(result.status)
    expectBound(shapes)
  }
  const names = namesReadBy(route).query
  for (const [index, value] of hostile.entries()) {
    if (index < alone) for (const name of names) await ask({ [name]: value })
    await ask(Object.fromEntries(names.map((name) => [name, value])))
    if (path.includes(':id')) await ask({}, value)
  }
})

type JsonSchema = {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  default?: unknown
}

/** Something the schema takes, with the given text wherever text may stand. */
function sampleOf(schema: JsonSchema, text: string): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return sampleOf(schema.anyOf[0] ?? {}, text)
  if (schema.type === 'string') return text
  if (schema.type === 'integer' || schema.type === 'number') return 1
  if (schema.type === 'boolean') return false
  if (schema.type === 'array') return [sampleOf(schema.items ?? {}, text)]
  if (schema.type !== 'object') return undefined
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, sampleOf(inner, text)]),
  )
}

type Procedure = { _def: { type: string; inputs: z.ZodType[] } }
const queries = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>).flatMap(
  ([path, { _def }]) => (_def.type === 'query' && _def.inputs[0] ? [[path, _def.inputs[0]] as const] : []),
)

test.each(queries)('the query %s takes whatever stands in its input as a value', async (path, input) => {
  const api = await app.trpc(root)
  const procedure = path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], api)
  const ask = async (given: unknown) => {
    const { shapes } = await statements.during(async () => {
      try {
        await (procedure as (given: unknown) => Promise<unknown>)(given)
      } catch (error) {
        // Refused or not found is an answer; what breaks is not.
        expect(error).toBeInstanceOf(TRPCError)
        expect((error as TRPCError).code).not.toBe('INTERNAL_SERVER_ERROR')
      }
    })
    expectBound(shapes)
  }
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  for (const [index, value] of hostile.entries()) {
    const sample = sampleOf(schema, value) as Record<string, unknown>
    await ask(sample)
    if (index >= alone) continue
    // Where a number, a choice or a list is wanted a text is refused or read, never passed on.
    for (const name of Object.keys(schema.properties ?? {})) {
      for (const odd of [value, [value], { [value]: value }]) await ask({ ...sample, [name]: odd })
    }
  }
})

test('headers are values too', async () => {
  const names = [
    'x-user-id',
    'authorization',
    'cookie',
    'accept-language',
    'user-agent',
    'x-forwarded-for',
    'x-real-ip',
  ]
  for (const value of hostile) {
    for (const name of names) {
      const headers = { [name]: name === 'cookie' ? `session=${encodeURIComponent(value)}` : value }
      const { result, shapes } = await statements.during(() => browser.get('/api/user/self', { headers }))
      expect([200, 401]).toContain(result.status)
      expectBound(shapes)
    }
  }
})

test('the sweep found the lists it is meant for, and would see a text that became part of a statement', () => {
  expect(shapeOf(`select 1 where a = 'it''s ${mark}' and b = E'\\' ${mark}' limit 5`)).not.toContain(mark)
  expect(shapeOf(`select 1 where a = '' or ${mark} = '1'`)).toContain(mark)
  expect(shapeOf(`select 1 order by id desc, (select ${mark} from pg_sleep(60))`)).toContain(mark)
  const paths = lists.map(([path]) => path)
  expect(paths).toEqual(
    expect.arrayContaining(['/api/user/', '/api/channel/', '/api/log/', '/api/token/', '/api/data/']),
  )
  const read = Object.fromEntries(lists.map(([path, route]) => [path, namesReadBy(route).query]))
  expect(read['/api/user/search']).toEqual(expect.arrayContaining(['keyword', 'group', 'p', 'page_size']))
  expect(queries.map(([path]) => path)).toEqual(expect.arrayContaining(['admin.users.list', 'admin.channels.list']))
})
