import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { relayRoutes, restRoutes } from '#scripts/route-list.ts'
import { describeApi } from '#server/openapi/document.ts'
import { renderPage } from '#server/openapi/page.ts'
import { templateOf } from '#server/openapi/parts.ts'
import { restTable } from '#server/rest-table.ts'
import { type App, startApp } from '#test/support/app.ts'
import type { TestUser } from '#test/support/factories.ts'
import { accessTable, relayKey } from './access-table.ts'
import { callRest } from './callers.ts'
import { objectsOf } from './objects.ts'
import { restCalls } from './rest-calls.ts'
import { inParallel } from './walk.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ environment: { TRUST_PROXY: '1' } })
})
afterAll(() => app[Symbol.asyncDispose]())

const document = describeApi(restTable)
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ key: `${method.toUpperCase()} ${path}`, path, operation })),
)

const content = z.record(z.string().regex(/^[\w-]+\/(\*|[\w.+-]+)$/), z.strictObject({ schema: z.looseObject({}) }))
const schemes = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('apiKey'),
    in: z.enum(['query', 'header', 'cookie']),
    name: z.string(),
    description: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('http'), scheme: z.literal('bearer'), description: z.string().optional() }),
])

/** The parts of OpenAPI 3.1 that the document uses, and no field beside them. */
const openApi = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({ title: z.string(), version: z.string(), description: z.string() }),
  tags: z.array(z.strictObject({ name: z.string().min(1) })),
  paths: z.record(
    z.string().regex(/^\/[^?#\\*]*$/),
    z.partialRecord(
      z.enum(['get', 'put', 'post', 'delete']),
      z.strictObject({
        operationId: z.string().regex(/^\w+$/),
        tags: z.array(z.string()).length(1),
        summary: z.string().min(1),
        'x-role': z.enum(['anyone', 'user', 'admin', 'root', 'token', 'session']),
        security: z.array(z.record(z.string(), z.array(z.string()))),
        parameters: z.array(
          z.strictObject({
            name: z.string().min(1),
            in: z.enum(['path', 'query']),
            required: z.boolean(),
            schema: z.looseObject({}),
          }),
        ),
        requestBody: z.strictObject({ content }).optional(),
        responses: z.record(
          z.string().regex(/^[2-5]\d\d$/),
          z.strictObject({ description: z.string().min(1), content: content.optional() }),
        ),
        deprecated: z.boolean().optional(),
      }),
    ),
  ),
  components: z.strictObject({
    securitySchemes: z.record(z.string(), schemes),
    schemas: z.record(z.string(), z.looseObject({})),
  }),
})

test('the document is OpenAPI 3.1: its fields, unique ids, declared path parameters, references that lead somewhere', () => {
  expect(openApi.safeParse(document).error?.issues ?? []).toEqual([])
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted())
  const shapes = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'))
  expect(shapes.toSorted()).toEqual([...new Set(shapes)].toSorted())
  for (const { path, operation } of operations) {
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
    expect(declared.map(({ name }) => `{${name}}`).toSorted()).toEqual((path.match(/\{\w+\}/g) ?? []).toSorted())
    expect(declared.every(({ required }) => required)).toBe(true)
    const named = operation.security.flatMap((scheme) => Object.keys(scheme))
    expect(named.filter((name) => !(name in document.components.securitySchemes))).toEqual([])
  }
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, target]) => target)
  const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
  expect([...new Set(references)].toSorted()).toEqual(known.toSorted())
})

/** Parameters are one, whatever they are called. */
const nameless = (key: string) => key.replaceAll(/\{\w+\}/g, '{}')

test('the document has every path of REST and of the relay with the role of the table of access, and nothing else', () => {
  const rest = restRoutes().map(({ kind, path }) => [
    `${kind} ${templateOf(path)}`,
    accessTable.rest[`${kind} ${path}`]?.role,
  ])
  const relay = relayRoutes()
    .filter(({ path }) => !path.endsWith('/*path'))
    .flatMap(({ kind, path }) =>
      (kind === 'any' ? ['GET', 'POST', 'PUT', 'DELETE'] : [kind]).map((method) => [
        `${method} ${templateOf(path)}`,
        accessTable.relay[relayKey(kind, path)]?.role,
      ]),
    )
  const expected = [...rest, ...relay].map(([key = '', role]) => `${nameless(key)}: ${role}`)
  const described = operations.map(({ key, operation }) => `${nameless(key)}: ${operation['x-role']}`)
  expect(described.toSorted()).toEqual(expected.toSorted())
})

test('every operation names its answers, and who must show what', () => {
  for (const { key, operation } of operations) {
    const statuses = Object.keys(operation.responses)
    expect(statuses.some((status) => status.startsWith('2') || status === '302' || status === '501')).toBe(true)
    expect(operation.security.length > 0, key).toBe(operation['x-role'] !== 'anyone')
  }
})

test('what a row renames is described by the schema of its procedure, and what it turns into something else is not', () => {
  const body = (path: string, method: string) =>
    document.paths[path]?.[method]?.requestBody?.content['application/json']?.schema
  const parameter = (path: string, wanted: string) =>
    document.paths[path]?.['get']?.parameters.find(({ name }) => name === wanted)
  expect(body('/api/user/', 'post')).toMatchObject({
    properties: { display_name: { type: 'string', maxLength: 20 }, role: { type: 'integer' } },
    required: ['username', 'password'],
  })
  expect(body('/api/token/', 'post')).toMatchObject({ properties: { unlimited_quota: { type: 'boolean' } } })
  expect(parameter('/api/user/search', 'p')).toMatchObject({ in: 'query', schema: { type: 'integer', minimum: 1 } })
  expect(parameter('/api/user/{id}', 'id')).toMatchObject({ in: 'path', required: true, schema: { type: 'integer' } })
  expect(parameter('/api/token/', 'p')?.schema).toEqual({ type: 'integer' })
  expect(parameter('/api/channel/', 'id_sort')?.schema).toEqual({ type: 'string' })
  expect(body('/api/redemption/', 'post')).not.toMatchObject({ properties: { key: { type: 'integer' } } })
})

test('the document and its page are served to anyone, the page without a script and under a policy that allows none', async () => {
  const served = await fetch(`${app.url}/api/openapi.json`)
  expect(served.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await served.json()).toEqual(JSON.parse(JSON.stringify(document)))
  const page = await fetch(`${app.url}/api/docs`)
  expect(page.headers.get('content-type')).toMatch(/^text\/html/)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const html = await page.text()
  expect(html).toBe(renderPage(document).html)
  expect(html).not.toMatch(/<script|\son\w+=|style="|(src|href)="(https?:)?\/\//)
  for (const { operation } of operations) expect(html).toContain(`id="${operation.operationId}"`)
})

type Reply = { data?: unknown }
type Described = { anyOf?: { properties?: { data?: { properties?: object } } }[] }

test('every REST read answers anybody with a status that the document lists and fields that it names', async () => {
  const user = await app.make.user()
  const root = await app.make.user({ role: 100 })
  const actors: Record<string, TestUser | null> = { anonymous: null, user, root }
  const wrong: string[] = []
  const reads = operations.filter(({ key }) => key.startsWith('GET /api/') && !key.includes('logout'))
  await inParallel(reads, async ({ key, operation }) => {
    const row = restRoutes().find(({ kind, path }) => `${kind} ${templateOf(path)}` === key)
    const path = `GET ${row?.path ?? ''}`
    const listed = Object.keys(operation.responses)
    for (const [name, actor] of Object.entries(actors)) {
      const sending = (await restCalls[path]?.(objectsOf(app, (actor ?? user).id, {}))) ?? {}
      const { status, text, outcome } = await callRest(app, actor, { key: path, ...sending })
      if (!listed.includes(String(status))) wrong.push(`${key} ${name}: ${status}`)
      const schema = operation.responses['200']?.content?.['application/json']?.schema as Described | undefined
      const fields = schema?.anyOf?.[0]?.properties?.data?.properties
      if (outcome !== 'ok' || !fields) continue
      const data = (JSON.parse(text) as Reply).data ?? {}
      const unnamed = Object.keys(data).filter((field) => !(field in fields))
      if (unnamed.length > 0) wrong.push(`${key} ${name}: ${unnamed.join(', ')} are not named`)
    }
  })
  expect(wrong).toEqual([])
})
