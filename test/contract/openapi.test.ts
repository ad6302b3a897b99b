import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { relayRoutes, restRoutes } from '#scripts/route-list.ts'
import { describeApi } from '#server/openapi/document.ts'
import { renderPage } from '#server/openapi/page.ts'
import { templateOf } from '#server/openapi/parts.ts'
import { restTable } from '#server/rest-table.ts'
import { startApp } from '#test/support/app.ts'
import type { TestUser } from '#test/support/factories.ts'
import { long as isLong } from '#test/support/long.ts'
import { richToken } from '#test/relay/relay-world.ts'
import { allowUnpriced } from '#test/relay/serve.ts'
import { accessTable, relayKey } from './access-table.ts'
import { callRelay, callRest, signedIn } from './callers.ts'
import { arbitraryOf } from './fuzz.ts'
import { objectsOf } from './objects.ts'
import { relayCalls } from './relay-calls.ts'
import { departures, successes } from './reply-schema.ts'
import { restCalls } from './rest-calls.ts'
import type { JsonSchema } from './samples.ts'
import { inParallel } from './walk.ts'

const app = await startApp({ environment: { TRUST_PROXY: '1' } })
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
  expect(described.toSorted(), 'roles of test/contract/access.json').toEqual(expected.toSorted())
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

/** Where a schema says nothing of what may stand there. */
function untyped(schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return []
  const { properties = {}, items, additionalProperties, anyOf = [], ...rest } = schema as ReplySchemaParts
  const below = [
    ...Object.entries(properties).map(([name, part]) => [part, `${at}.${name}`] as const),
    ...anyOf.map((part) => [part, at] as const),
    ...[items, additionalProperties].flatMap((part) => (part === undefined ? [] : [[part, `${at}[]`] as const])),
  ].flatMap(([part, where]) => untyped(part, where))
  const says = ['type', 'const', 'enum', 'description'].some((word) => word in rest) || anyOf.length > 0
  return says ? below : [at, ...below]
}
type ReplySchemaParts = { properties?: object; items?: object; additionalProperties?: object; anyOf?: object[] }

test('every documented reply says of every field what stands in it', () => {
  const types = [...successes].flatMap(([route, { data }]) => (data ? untyped(data, route) : []))
  expect(types).toEqual([])
  expect(successes.get('GET /api/user/self')?.data).toMatchObject({
    properties: { quota: { type: 'integer' }, DeletedAt: { type: ['string', 'null'], format: 'date-time' } },
  })
  expect(successes.get('GET /api/token/')?.data).toMatchObject({
    type: 'array',
    items: { properties: { unlimited_quota: { type: 'boolean' } }, required: expect.arrayContaining(['remain_quota']) },
  })
  expect(departures('GET /api/user/aff', '{"success":true,"message":"","data":7}')).toHaveLength(1)
})

test('every name is required once, patterns use nothing that only some readers of the document know, and an address of any length is answered as described', async () => {
  const text = JSON.stringify(document)
  const lists = [...text.matchAll(/"required":(\[[^\]]*\])/g)].map(([, list = '']) => JSON.parse(list) as string[])
  expect(lists.filter((list) => new Set(list).size < list.length)).toEqual([])
  expect(text.match(/"pattern":"[^"]*\\\\p\{[^"]*"/gi)).toBeNull()
  for (const path of ['/api/status', '/v1/models']) {
    const { status } = await fetch(`${app.url}${path}?long=${'a'.repeat(20_000)}`)
    expect(Object.keys(document.paths[path]?.['get']?.responses ?? {})).toContain(String(status))
  }
})

test('every REST read answers anybody with a status that the document lists and fields as it describes them', async () => {
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
      if (outcome === 'ok' && text.startsWith('{')) wrong.push(...departures(path, text))
    }
  })
  expect(wrong).toEqual([])
})

const isRelay = ({ path }: { path: string }) => !path.startsWith('/api/')
const jsonOf = (content: (typeof operations)[number]['operation']['requestBody'] | undefined) =>
  content?.content['application/json']?.schema as JsonSchema | undefined

/** A channel that answers every model, and a token that can pay. */
async function startTraffic() {
  await allowUnpriced(app)
  const models = 'gpt-4o-mini,text-embedding-3-small,omni-moderation-latest,dall-e-3,gpt-image-1,tts-1,whisper-1,fuzzed'
  const channel = await app.make.channel({ models })
  await app.services.channels.reload(channel.id)
  return richToken(app)
}

test('every dialect takes what the document says it takes, and answers as the document says it answers', async () => {
  const token = await startTraffic()
  const wrong: string[] = []
  let described = 0
  await inParallel(relayRoutes(), async ({ kind, path }) => {
    const operation = document.paths[templateOf(path)]?.[kind.toLowerCase()]
    const answer = operation?.responses['200']?.content?.['application/json']?.schema
    const make = relayCalls[relayKey(kind, path)]
    if (!answer || Object.keys(answer).length === 0 || (!make && kind !== 'GET') || path.startsWith('/pg/')) return
    const { id = '', body } = (await make?.(objectsOf(app, token.userId))) ?? {}
    const request = jsonOf(operation?.requestBody)
    if (request && !z.fromJSONSchema(request as never).safeParse(body).success)
      wrong.push(`${path} refuses ${JSON.stringify(body)}`)
    const address = path.replaceAll('\\', '').replace(/[:*](id|model)/, encodeURIComponent(id))
    const headers = { authorization: `Bearer ${token.key}` }
    const { status, text } = await callRelay(app, { method: kind, path: address, body, headers })
    if (status !== 200) return
    const problems = z.fromJSONSchema(answer as never).safeParse(JSON.parse(text)).error?.issues ?? []
    for (const { path: at, message } of problems)
      wrong.push(`${kind} ${path} ${at.join('.')}: ${message}\n${text.slice(0, 300)}`)
    described += 1
  })
  expect(wrong).toEqual([])
  expect(described).toBeGreaterThan(25)
})

/** What ends the session that all calls are made with, or asks the world outside. */
const spared = /logout|user\/self$|channel\/(test|update_balance|fetch_models)|oauth|ratio\/official|openapi|docs/

test('whatever fits the document, and what nearly does, is answered as the document says and never by 500', async () => {
  const token = await startTraffic()
  const root = await app.make.user({ role: 100 })
  const wrong: string[] = []
  let answered = 0
  // The short form tries the same each time, on a slow machine too.
  const [first, rounds] = isLong ? [Date.now() % 2 ** 31, 500] : [1, 2]
  const some = operations.filter(({ key }) => !spared.test(key))
  for (let seed = first; seed < first + rounds; seed += 1) {
    await inParallel(some, async ({ key, path, operation }) => {
      const pick = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.sample(arbitrary, { numRuns: 1, seed })[0] as Value
      const texts = Object.fromEntries(
        operation.parameters.map(({ name, schema }) => [name, String(pick(arbitraryOf(schema as JsonSchema)))]),
      )
      const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const text = texts[name] ?? ''
        return /model/.test(name) ? 'fuzzed' : encodeURIComponent(text.isWellFormed() && text !== '' ? text : '1')
      })
      const asked = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
      const query = new URLSearchParams(asked.map((name) => [name, texts[name] ?? '']))
      const schema = jsonOf(operation.requestBody)
      const made = schema && pick(arbitraryOf(schema))
      const body = isRelay({ path }) && /^\/(v1|v2|pg|rerank)/.test(path) ? { ...Object(made), model: 'fuzzed' } : made
      const [method = ''] = key.split(' ')
      const reply = await fetch(`${app.url}${address}?${query}`, {
        method,
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          ...(isRelay({ path }) && operation['x-role'] !== 'session'
            ? { authorization: `Bearer ${token.key}` }
            : signedIn(app, root)),
        },
        ...(method === 'GET' || body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await reply.text()
      if (reply.ok) answered += 1
      // What is made up for the options may take a model's price away, which is documented as 500.
      const isFault = reply.status === 500 && !text.includes('no price set')
      if (!isFault && reply.status in operation.responses) return
      wrong.push(
        `${key} seed ${seed}: ${reply.status} ${text.slice(0, 200)} to ${query} ${JSON.stringify(body)?.slice(0, 300)}`,
      )
    })
  }
  expect(wrong).toEqual([])
  // Not everything was refused by its form.
  expect(answered).toBeGreaterThan(70)
})
