import { z } from 'zod'
import { describeApi } from '#server/openapi/document.ts'
import { templateOf } from '#server/openapi/parts.ts'
import { restTable } from '#server/rest-table.ts'

type Schema = Record<string, unknown>

/** A field that the document does not name is a mistake of the document. */
function withoutMore(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutMore)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, withoutMore(part)]))
  return 'properties' in inner ? { additionalProperties: false, ...inner } : inner
}

type Described = { anyOf?: [Schema & { properties: { data?: Schema } }] }

/** What the document says of a success, by route: `GET /api/user/:id`. */
export const successes: ReadonlyMap<string, { data: Schema | undefined; check: z.ZodType }> = new Map(
  Object.entries(describeApi(restTable).paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) => {
      const described = responses['200']?.content?.['application/json']?.schema as Described | undefined
      const success = described?.anyOf?.[0]
      if (!success) return []
      const check = z.fromJSONSchema(withoutMore(success) as never)
      return [[`${method.toUpperCase()} ${path}`, { data: success.properties.data, check }] as const]
    }),
  ),
)

/** Where a successful reply departs from the document. */
export function departures(route: string, text: string): string[] {
  const [method = '', path = ''] = route.split(' ')
  const success = successes.get(`${method} ${templateOf(path)}`)
  if (!success) return []
  const { error } = success.check.safeParse(JSON.parse(text))
  return (error?.issues ?? []).map(
    ({ path: at, message }) => `${route} ${at.join('.')}: ${message} in ${text.slice(0, 300)}`,
  )
}
