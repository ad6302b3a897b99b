import { type Request, type Response, Router } from 'express'
import { TRPCError } from '@trpc/server'
import { DomainError, type Language } from '#core/errors.ts'
import { crashOf, toDomainError } from '#trpc/procedure-errors.ts'
import { sendRefusal, sendSuccess } from './envelope.ts'
import type { BoundRoute, RestRequest, Route, RouteTable } from './route.ts'

/** What the paths are served with: the product's services, its procedures and how a request becomes their context. */
export type RestProduct<Api, Services> = {
  services: Services & { log: { error: (fields: object, message: string) => void } }
  table: RouteTable<Api, Services>
  callerOf: (exchange: Exchange, userId: BoundRoute['userId']) => Promise<Api>
  /** The value of a request's body; undefined where it has none. */
  bodyOf: (exchange: Exchange) => Promise<unknown>
}

/** The documented `/api` paths, each answered by the procedure it is bound to. */
export function createRestRouter<Api, Services>(product: RestProduct<Api, Services>): Router {
  const router = Router()
  router.use('/api', (_req, res, next) => {
    res.setHeader('cache-control', 'no-store')
    next()
  })
  const routes = bySpecificity(product.table)
  // Those read their bodies themselves, byte for byte.
  for (const [key, route] of routes) {
    if (route.kind === 'raw') onPath(router, key, (req, res) => route.handler(product.services, { req, res }))
  }
  for (const [key, route] of routes) {
    if (route.kind === 'raw') continue
    const [, path = '/'] = key.split(' ')
    if (route.anyOrigin) {
      router.use(path, allowAnyOrigin)
      router.options(path, (_req, res) => void res.status(204).end())
    }
    onPath(router, key, (req, res) => answer(product, route, { req, res }))
  }
  return router
}

function onPath(router: Router, key: string, handler: (req: Request, res: Response) => Promise<void> | void): void {
  const [method = 'GET', path = '/'] = key.split(' ')
  router[method.toLowerCase() as 'get' | 'post' | 'put' | 'delete'](path, handler)
}

/** Without credentials: a page of somebody else's acts for nobody who is signed in here. */
function allowAnyOrigin(req: Request, res: Response, next: () => void): void {
  res.setHeader('access-control-allow-origin', '*')
  res.setHeader('access-control-allow-headers', req.get('access-control-request-headers') ?? '*')
  res.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE, OPTIONS')
  res.setHeader('access-control-expose-headers', 'x-total-count')
  next()
}

/** Fixed segments before parameters, so that `/api/user/self` is never read as a user's id. */
function bySpecificity<Api, Services>(table: RouteTable<Api, Services>): [string, Route<Api, Services>][] {
  const rank = (key: string) =>
    key
      .split('/')
      .map((segment) => (segment.startsWith(':') ? 'z' : 'a'))
      .join('')
  return Object.entries(table).sort(([left], [right]) => rank(left).localeCompare(rank(right)))
}

type Exchange = { req: Request; res: Response }

async function answer<Api, Services>(
  product: RestProduct<Api, Services>,
  route: BoundRoute<Api>,
  { req, res }: Exchange,
): Promise<void> {
  const language = languageOf(req)
  try {
    const body = await readJson(product, { req, res })
    const api = await product.callerOf({ req, res }, route.userId)
    const request: RestRequest = { params: toTexts(req.params), query: toTexts(req.query), body: toObject(body) }
    const output = await route.call(api, request)
    if (route.redirectTo !== undefined) return res.redirect(302, route.redirectTo)
    const data = route.reply(output, request)
    const total = route.reply.totalOf?.(output)
    if (total !== undefined) res.setHeader('x-total-count', total)
    sendSuccess(res, route, { output, data, beside: route.topLevel?.(output, request) })
  } catch (error) {
    sendRefusal(res, route, { error: domainErrorOf(product.services.log, error), language })
  }
}

function domainErrorOf(log: RestProduct<never, unknown>['services']['log'], error: unknown): DomainError {
  if (error instanceof DomainError) return error
  if (error instanceof TRPCError) return toDomainError(error)
  log.error({ err: error }, 'a REST call failed')
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
async function readJson<Api, Services>({ bodyOf }: RestProduct<Api, Services>, exchange: Exchange): Promise<unknown> {
  const body = await bodyOf(exchange)
  if (body === null || (body !== undefined && typeof body !== 'object')) throw new DomainError('input.unreadable')
  return body
}
