import type { Services } from '#features/deps.ts'
import type { RouteTable } from '#rest/route.ts'
import type { Api } from '../app-router.ts'
import { type DescribedRoute, templateOf } from './parts.ts'
import { relayOperations } from './relay-operations.ts'
import { restOperations } from './rest-operations.ts'
import type { ApiDocument, Operation } from './types.ts'

const description = [
  'Paths below /api answer {success, message, data}: a refusal is 200 with success false, unless its status is listed.',
  'Every other path is traffic of callers, in the form that the client of each provider expects; paths below /v1 and /v1beta are',
  'also served with /hf in front, and a provider may answer with statuses of its own.',
].join(' ')

const securitySchemes = {
  session: { type: 'apiKey', in: 'cookie', name: 'session' },
  userId: { type: 'apiKey', in: 'header', name: 'X-User-Id', description: 'The id of whoever calls' },
  accessToken: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'The system access token' },
  token: { type: 'http', scheme: 'bearer', description: 'A token, sk-…' },
  tokenOfClaude: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A token, as of the dialect claude' },
  tokenOfGemini: {
    type: 'apiKey',
    in: 'header',
    name: 'x-goog-api-key',
    description: 'A token, as of the dialect gemini',
  },
}

const schemas = {
  Refusal: {
    type: 'object',
    properties: { success: { const: false }, message: { type: 'string' } },
    required: ['success', 'message'],
  },
  MessageRefusal: {
    type: 'object',
    properties: { message: { const: 'error' }, data: { type: 'string' } },
    required: ['message'],
  },
  RelayError: { type: 'object', description: 'An error in the form of the dialect' },
}

/** Every path of REST and of the relay in OpenAPI 3.1, made of the tables that serve them. */
export function describeApi(table: RouteTable<Api, Services>): ApiDocument {
  const routes = [...restOperations(table), ...relayOperations()]
  const paths: ApiDocument['paths'] = {}
  /** Two paths that differ in the name of a parameter alone are one. */
  const sameShape = new Map<string, string>()
  for (const route of routes) {
    const written = templateOf(route.path)
    const shape = written.replaceAll(/\{\w+\}/g, '{}')
    const path = sameShape.get(shape) ?? written
    sameShape.set(shape, path)
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    ;(paths[path] ??= {})[route.method] = operationOf(route, names)
  }
  const tags = [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name }))
  const info = { title: 'API 文档 · API reference', version: '1', description }
  return { openapi: '3.1.0', info, tags, paths, components: { securitySchemes, schemas } }
}

function operationOf({ path, method, tag, role, parameters, ...rest }: DescribedRoute, names: string[]): Operation {
  let position = 0
  return {
    operationId: `${method}_${path.replaceAll(/\W+/g, '_').replace(/^_/, '')}`,
    tags: [tag],
    'x-role': role,
    parameters: parameters.map((parameter) =>
      parameter.in === 'path' ? { ...parameter, name: names[position++] ?? parameter.name } : parameter,
    ),
    ...rest,
  }
}
