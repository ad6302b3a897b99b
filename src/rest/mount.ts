import { type Handler, type Request, type Response, Router } from 'express'
import { TRPCError } from '@trpc/server'
import { DomainError, type Language } from '#core/errors.ts'
import { createCaller } from '#server/app-router.ts'
import { readConsoleBody } from '#server/console-body.ts'
import { createContext } from '#server/context.ts'
import { crashOf, toDomainError } from '#trpc/procedure-errors.ts'
import type { Services } from '#features/deps.ts'
import { hasBody, parseBody } from '#features/request-bodies/read-body.ts'
import { sendRefusal, sendSuccess } from './envelope.ts'
import type { BoundRoute, RestRequest, Route, RouteTable } from './route.ts'

/** The documented `/api` paths, each answered by the procedure it is bound to. */
export function createRestRouter(services: Services, table: RouteTable): Router {
  const router = Router()
  router.use('/api', (_req, res, next) => {
    res.setHeader('cache-control', 'no-store')
    next()
  })
  router.use('/api', readJson(services))
  for (const [key, route] of bySpecificity(table)) {
    const [method = 'GET', path = '/'] = key.split(' ')
    const name = method.toLowerCase() as 'get' | 'post' | 'put' | 'delete'
    if (route.kind === 'bound' && route.anyOrigin) {
      router.use(path, allowAnyOrigin)
      router.options(path, (_req, res) => void res.status(204).end())
    }
    router[name](path, (req, res) =>
      route.kind === 'raw' ? route.handler(services, { req, res }) : answer(services, route, { req, res }),
    )
  }
  return router
}

/** Without credentials: a page of somebody else's acts for nobody who is signed in here. */
function allowAnyOrigin(req: Request, res: Response, next: () => void): void {
  res.setHeader('access-control-allow-origin', '*')
  res.setHeader('access-control-allow-headers', req.get('access-control-request-headers') ?? '*')
  res.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE, OPTIONS')
  next()
}

/** Fixed segments before parameters, so that `/api/user/self` is never read as a user's id. */
function bySpecificity(table: RouteTable): [string, Route][] {
  const rank = (key: string) =>
    key
      .split('/')
      .map((segment) => (segment.startsWith(':') ? 'z' : 'a'))
      .join('')
  return Object.entries(table).sort(([left], [right]) => rank(left).localeCompare(rank(right)))
}

type Exchange = { req: Request; res: Response }

async function answer(services: Services, route: BoundRoute, { req, res }: Exchange): Promise<void> {
  const language = languageOf(req)
  try {
    const context = await createContext(services, { req, res }, route.userId)
    const request: RestRequest = { params: toTexts(req.params), query: toTexts(req.query), body: toObject(req.body) }
    const output = await route.call(createCaller(context), request)
    sendSuccess(res, route, { output, data: route.reply(output, request) })
  } catch (error) {
    sendRefusal(res, route, { error: domainErrorOf(services, error), language })
  }
}

function domainErrorOf(services: Services, error: unknown): DomainError {
  if (error instanceof DomainError) return error
  if (error instanceof TRPCError) return toDomainError(error)
  services.log.error({ err: error }, 'a REST call failed')
  return crashOf(error)
}

const toTexts = (values: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(Object(values)).flatMap(([name, value]) => {
      const single: unknown = Array.isArray(value) ? value[0] : value
      return typeof single === 'string' ? [[name, single]] : []
    }),
  )

const toObject = (body: unknown): Record<string, unknown> =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {}

const languageOf = (req: Request): Language => (req.acceptsLanguages('zh', 'en') === 'en' ? 'en' : 'zh')

/** Every body is an object or a list of JSON, whatever its sender calls it; none is an empty object. */
const readJson =
  (services: Services): Handler =>
  async (req, res, next) => {
    if (!hasBody(req)) return next()
    try {
      const body = await readConsoleBody(services, { req, res })
      req.body = body.bytes.length === 0 ? {} : await parseBody(body)
      if (typeof req.body !== 'object' || req.body === null) throw new DomainError('input.unreadable')
    } catch (error) {
      return sendRefusal(res, null, { error: domainErrorOf(services, error), language: languageOf(req) })
    }
    next()
  }
