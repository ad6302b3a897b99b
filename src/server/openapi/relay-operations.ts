import { errorRow, errors, isErrorCode } from '#core/errors.ts'
import { drawingFields } from '#relay/dialects/drawing/request.ts'
import { musicFields } from '#relay/dialects/music/request.ts'
import { chatPaths, plainPaths, unimplementedPaths } from '#relay/routes.ts'
import { dialectBodies } from './dialect-bodies.ts'
import { answersOf, type DescribedRoute, parametersOf } from './parts.ts'
import { relayRoutes } from './route-list.ts'
import { jsonSchemaOf } from './row-input.ts'
import type { Content, Operation, Schema } from './types.ts'

/** Whose own documentation says the rest of a body. */
const bodyNotes = new Map([
  ...chatPaths.map(({ path, dialect }) => [path, `As of the dialect ${dialect.id}`] as const),
  ...plainPaths.map(({ path, operation }) => [path, `As of the operation ${operation}`] as const),
])

const unimplemented = new Set(unimplementedPaths.map(({ path }) => path))
const withFiles = /\/(images\/edits|audio\/transcriptions|audio\/translations)$/
const openPath = /\/image\/:id$|^\/v1\/responses$/

const methodsOf = (kind: string): string[] => (kind === 'any' ? ['get', 'post', 'put', 'delete'] : [kind.toLowerCase()])

/** A base with nothing behind its wildcard answers that the path is unknown, which is no path of the product. */
const isPath = ({ path }: { path: string }): boolean => !path.endsWith('/*path')

export const relayOperations = (): DescribedRoute[] =>
  relayRoutes()
    .filter(isPath)
    .flatMap(({ kind, path }) => methodsOf(kind).map((method) => describe(method, path)))

function describe(method: string, path: string): DescribedRoute {
  const role = roleOf(method, path)
  const isUnimplemented = unimplemented.has(path) && !(method === 'get' && path.startsWith('/v1/models'))
  return {
    path,
    method,
    tag: tagOf(path),
    role,
    summary: isUnimplemented ? 'Not implemented' : (bodyNotes.get(path) ?? 'Answered by the gateway'),
    security: securityOf(role),
    parameters: parametersOf(path),
    ...(method === 'post' && !isUnimplemented ? { requestBody: { content: bodyOf(method, path) } } : {}),
    ...(isUnimplemented ? { deprecated: true } : {}),
    responses: answersOf(statusesOf(path, isUnimplemented), contentOf(method, path), relayRefusal),
  }
}

const roleOf = (method: string, path: string): string => {
  if (path.startsWith('/pg/')) return 'session'
  return method === 'get' && openPath.test(path) ? 'anyone' : 'token'
}

const securityOf = (role: string): Operation['security'] => {
  if (role === 'anyone') return []
  return role === 'session'
    ? [{ session: [], userId: [] }]
    : [{ token: [] }, { tokenOfClaude: [] }, { tokenOfGemini: [] }]
}

/** The first name behind the version: chat, images, models, mj-fast … */
const tagOf = (path: string): string => {
  const [first = '', second = ''] = path.split('/').slice(1)
  return `relay ${/^(v1|v1beta|v2|upload|dashboard|pg)$/.test(first) ? second : first}`
}

const streamed = new Set([
  '/pg/chat/completions',
  ...chatPaths.flatMap(({ path, dialect }) => (dialect.isNeverStored ? [] : path)),
])

function contentOf(method: string, path: string): Content {
  if (path.endsWith('/image/:id')) return { 'image/*': { schema: {} } }
  if (path.endsWith('/audio/speech')) return { 'audio/*': { schema: {} } }
  return {
    'application/json': { schema: dialectBodies(method, path).answer ?? {} },
    ...(streamed.has(path) ? { 'text/event-stream': { schema: { type: 'string' } } } : {}),
  }
}

const relayRefusal: Content = { 'application/json': { schema: { $ref: '#/components/schemas/RelayError' } } }

/** A field that is absent reads as empty. */
const withoutRequired = ({ required: _required, $schema: _dialect, ...schema }: Schema): Schema => schema

function schemaOfBody(method: string, path: string): Schema {
  const described = dialectBodies(method, path).request
  if (described) return described
  if (path.startsWith('/mj')) return withoutRequired(jsonSchemaOf(drawingFields))
  if (path.startsWith('/suno/submit')) return withoutRequired(jsonSchemaOf(musicFields))
  const namesModel = /^\/(v1|v2|pg|rerank)/.test(path) && !/[:*]model/.test(path)
  return {
    type: 'object',
    ...(namesModel ? { properties: { model: { type: 'string' } } } : {}),
    additionalProperties: true,
  }
}

const bodyOf = (method: string, path: string): Content => ({
  [withFiles.test(path) ? 'multipart/form-data' : 'application/json']: { schema: schemaOfBody(method, path) },
})

const statusesOf = (path: string, isUnimplemented: boolean): number[] => {
  const groups = path.startsWith('/mj')
    ? ['relay', 'drawing']
    : path.startsWith('/suno')
      ? ['relay', 'music']
      : ['relay']
  const codes = Object.keys(errors).filter(isErrorCode)
  const refusals = codes
    .filter((code) => groups.includes(code.split('.')[0] ?? ''))
    .flatMap((code) => errorRow(code).status ?? [])
  const all = [...(isUnimplemented ? [] : [200]), 400, 401, 403, 429, 500, 502, 503, ...refusals]
  return isUnimplemented ? all : all.filter((status) => status !== 501)
}
