import type { z } from 'zod'
import { errorRow, errors, isErrorCode } from '#core/errors.ts'
import type { Services } from '#features/deps.ts'
import { statusOfKind } from '#rest/envelope.ts'
import type { Route, RouteTable } from '#rest/route.ts'
import { type Api, appRouter } from '../app-router.ts'
import { answersOf, type DescribedRoute, parametersOf } from './parts.ts'
import { routesOfTable } from './route-list.ts'
import { inputOfRow } from './row-input.ts'
import { replyOfRow } from './row-reply.ts'
import type { Answers, Content, Operation, Schema } from './types.ts'

type Table = RouteTable<Api, Services>
type Procedures = Record<string, { _def: { inputs: z.ZodType[] } } | undefined>

/** What is answered by a handler of its own says nothing of its answers; they stand here. */
const ownAnswers: Record<string, { type: string; statuses: number[]; body?: string }> = {
  'GET /api/openapi.json': { type: 'application/json', statuses: [200] },
  'GET /api/docs': { type: 'text/html', statuses: [200] },
  'GET /api/user/epay/notify': { type: 'text/plain', statuses: [200] },
  'POST /api/user/epay/notify': { type: 'text/plain', statuses: [200], body: 'application/x-www-form-urlencoded' },
  'POST /api/user/stripe/webhook': { type: 'application/json', statuses: [200, 400, 503], body: 'application/json' },
}

/** Groups of error codes whose own statuses reach only the paths below these. */
const errorsBelow: Record<string, string[]> = {
  oauth: ['/api/oauth'],
  option: ['/api/option'],
  mapping: ['/api/model_mapping'],
  password: ['/api/user'],
}

export const restOperations = (table: Table): DescribedRoute[] =>
  routesOfTable(table).map(({ kind, path, role, procedure }) => {
    const key = `${kind} ${path}` as keyof Table
    const route = table[key]
    if (route === undefined) throw new Error(`no row ${key}`)
    const own = ownAnswers[key]
    const common = { path, method: kind.toLowerCase(), tag: path.split('/')[2] ?? '', role: role || 'anyone' }
    if (route.kind === 'raw') {
      if (own === undefined) throw new Error(`${key} answers by itself: its answers belong into ownAnswers`)
      return {
        ...common,
        summary: 'Answered by a handler of its own',
        security: [],
        parameters: parametersOf(path),
        ...(own.body ? { requestBody: { content: { [own.body]: { schema: { type: 'object' } } } } } : {}),
        responses: answersOf([...own.statuses, 400, 429, 500], { [own.type]: { schema: {} } }),
      }
    }
    const [input] = (appRouter._def.procedures as unknown as Procedures)[procedure]?._def.inputs ?? []
    const read = inputOfRow(route, input)
    return {
      ...common,
      summary: `Calls ${procedure}`,
      security: securityOf(common.role, route),
      parameters: [
        ...parametersOf(path).map((parameter) => ({
          ...parameter,
          schema: read.params[parameter.name]?.schema ?? parameter.schema,
        })),
        ...Object.entries(read.query).map(([name, field]) => ({ name, in: 'query' as const, ...field })),
      ],
      ...(Object.keys(read.body).length === 0 ? {} : { requestBody: { content: bodyOf(read.body) } }),
      responses: restAnswers({ method: common.method, path, route }),
    }
  })

type Bound = Extract<Route<Api, Services>, { kind: 'bound' }>

const securityOf = (role: string, { userId }: Bound): Operation['security'] => {
  if (role === 'anyone') return []
  return userId === 'none'
    ? [{ session: [] }]
    : [
        { session: [], userId: [] },
        { accessToken: [], userId: [] },
      ]
}

const bodyOf = (fields: Record<string, { schema: Schema; required: boolean }>): Content => {
  const required = Object.keys(fields).filter((name) => fields[name]?.required)
  const properties = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))
  const schema = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
  return { 'application/json': { schema } }
}

function restAnswers({ method, path, route }: { method: string; path: string; route: Bound }): Answers {
  const codes = Object.keys(errors).filter(isErrorCode)
  const statuses = [
    // Wrong percent signs in the address, before any row is asked.
    400,
    ...Object.values(statusOfKind),
    ...Object.values(route.status),
    ...codes.flatMap((code) => {
      const group = code.split('.')[0] ?? ''
      const reaches = group === 'input' ? method !== 'get' : errorsBelow[group]?.some((below) => path.startsWith(below))
      return reaches ? (errorRow(code).status ?? []) : []
    }),
  ]
  const refusal = { $ref: `#/components/schemas/${route.envelope === 'plain' ? 'Refusal' : 'MessageRefusal'}` }
  const success = { 'application/json': { schema: { anyOf: [replyOfRow(route), refusal] } } }
  const answers = answersOf(statuses, success, { 'application/json': { schema: refusal } })
  return route.redirectTo === undefined ? answers : { ...answers, 302: { description: `To ${route.redirectTo}` } }
}
