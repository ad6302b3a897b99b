import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import compression from 'compression'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { clientNetwork } from '#features/client-address/service.ts'
import type { Services } from '#features/deps.ts'
import { endUnreadBody } from '#features/request-bodies/unread-bodies.ts'
import { asksForSocket, createChatShortcut, createRelayRouter, type RelayServices } from '#relay/index.ts'
import { crashOf, isPassing, trpcErrorOf } from '#trpc/procedure-errors.ts'
import { restTable } from './rest-table.ts'
import { createRestRouter } from '#rest/mount.ts'
import { appRouter, createCaller } from './app-router.ts'
import { readJsonBody, readTrpcBody } from './console-body.ts'
import { createContext } from './context.ts'
import { createMetricsRoute } from './metrics-route.ts'
import { withOriginForm } from './request-target.ts'

/** One process's web server: the relay, REST and tRPC, and the console itself. */
export function createApp(services: RelayServices, console: express.Handler): RequestListener {
  const app = createRoutes(services, console)
  return withOriginForm(services.environment.ROLE === 'console' ? app : withChatFirst(services, app))
}

/**
 * Chat calls go straight to the relay: what Express makes for each request, and its way to the first route, take as long as
 * several of the relay's own steps. Requests and responses have Express's methods all the same.
 */
export function withChatFirst(services: RelayServices, app: Express): RequestListener {
  const chat = createChatShortcut(services)
  return (incoming, outgoing) => {
    if (!chat.takes(incoming)) return app(incoming, outgoing)
    const { req, res } = asExpress(app, incoming, outgoing)
    chat.answer(req, res).catch((error: unknown) => {
      if (!answerUnexpected(services, error, res)) res.destroy()
    })
  }
}

function asExpress(app: Express, incoming: IncomingMessage, outgoing: ServerResponse): { req: Request; res: Response } {
  const req = Object.setPrototypeOf(incoming, app.request) as Request
  const res = Object.setPrototypeOf(outgoing, app.response) as Response
  req.res = res
  return { req, res }
}

function createRoutes(services: RelayServices, console: express.Handler): Express {
  const { ROLE } = services.environment
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.get(
    '/healthz',
    (_req, res) => void res.status(services.draining() ? 503 : 200).json({ ok: !services.draining() }),
  )
  app.get('/readyz', async (_req, res) => {
    const ready = await services.ready()
    res.setHeader('cache-control', 'no-store')
    res.status(ready ? 200 : 503).json({ ready })
  })
  app.get('/metrics', createMetricsRoute(services))
  app.use(withSingleSlashes, (req, res, next) => {
    endUnreadBody(services.bodies.limits, req, res)
    next()
  })
  app.use(createRelayRouter(services, ROLE === 'console' ? 'playground' : 'all'))
  if (ROLE !== 'relay') {
    app.use('/trpc', uncached)
    app.use(['/api', '/trpc'], withRequestId(services), limitAddress(services, 'api'))
    app.use('/api', compression())
    app.use(
      '/trpc',
      refuseUnreadablePath,
      compression(),
      createExpressMiddleware({
        router: appRouter,
        createContext: ({ req, res }) =>
          createContext(services, { req, res }, 'when-sent').catch((error: unknown) => {
            services.log.error({ err: error }, 'who calls a procedure could not be read')
            throw trpcErrorOf(crashOf(error))
          }),
        middleware: readTrpcBody(services),
        responseMeta: ({ errors }) => (errors.some(isPassing) ? { headers: { 'retry-after': '5' } } : {}),
        // One request counts once for its sender's limit, so it may not ask for hundreds of things.
        maxBatchSize: 50,
        // What is asked may be longer than an address.
        allowMethodOverride: true,
      }),
    )
    app.use(
      createRestRouter({
        services,
        table: restTable,
        callerOf: async (exchange, userId) => createCaller(await createContext(services, exchange, userId)),
        bodyOf: (exchange) => readJsonBody(services, exchange),
      }),
    )
  }
  app.use('/api', unknownPath)
  if (ROLE !== 'relay') app.use(refuseSocket, limitAddress(services, 'web'), console)
  app.use(unknownPath)
  // The last net: the process goes on, the body reveals nothing of what broke.
  // oxlint-disable-next-line max-params -- Express recognises an error handler by its four parameters.
  app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
    if (error instanceof URIError && !res.headersSent) return unreadablePath(res)
    if (!answerUnexpected(services, error, res)) next(error)
  })
  return app
}

/** False where an answer has begun already. */
function answerUnexpected({ log }: Services, error: unknown, res: Response): boolean {
  log.error({ err: error }, 'a request failed unexpectedly')
  if (res.headersSent) return false
  res.status(500).json({ error: { message: 'internal server error', type: 'gateway_error' } })
  return true
}

/** Answers to questions are somebody's own, keys among them; a cache would keep them for others. */
const uncached: express.Handler = (_req, res, next) => {
  res.setHeader('cache-control', 'no-store')
  next()
}

const withRequestId =
  ({ ambient }: Services): express.Handler =>
  (_req, res, next) => {
    res.setHeader('x-request-id', ambient.newId(20))
    next()
  }

/**
 * The console's routes share one count an address, its pages and files have another. Polling for unread messages is left
 * out of it.
 */
const limitAddress =
  (services: Services, name: 'api' | 'web'): express.Handler =>
  async (req, res, next) => {
    const { API_RATE_LIMIT, WEB_RATE_LIMIT } = services.environment
    const points = name === 'api' ? API_RATE_LIMIT : WEB_RATE_LIMIT
    if (points === 0 || (name === 'api' && isUnreadPoll(req.path))) return next()
    const verdict = await services.limits.slide({ name, key: clientNetwork(services, req), points, seconds: 180 })
    if (verdict.allowed) return next()
    res.setHeader('retry-after', String(verdict.retryAfterSeconds))
    res.setHeader('cache-control', 'no-store')
    res.status(429).end()
  }

/** Alone, not among other calls of a batch. */
const isUnreadPoll = (path: string): boolean => /\/(unread_count\/?|user\.messages\.unreadCount)$/.test(path)

/** A base address that ends in a slash makes two of it; no path of ours has two. */
const withSingleSlashes: express.Handler = (req, _res, next) => {
  const end = req.url.indexOf('?')
  const path = end < 0 ? req.url : req.url.slice(0, end)
  if (path.includes('//')) req.url = path.replace(/\/{2,}/g, '/') + (end < 0 ? '' : req.url.slice(end))
  next()
}

/** Where no router looks at the path first: whoever decoded it later would take the mistake for the server's. */
const refuseUnreadablePath: express.Handler = (req, _res, next) => {
  // What it throws ends in the last net.
  decodeURIComponent(req.path)
  next()
}

/** A page in its place would be taken for a failure of the connection. */
const refuseSocket: express.Handler = (req, res, next) => (asksForSocket(req) ? unknownPath(req, res) : next())

/** A path whose percent signs mean nothing is its sender's mistake. */
function unreadablePath(res: Response): void {
  const message = 'The path cannot be read: a percent sign in it is not followed by two digits'
  res.status(400).json({ error: { message, type: 'invalid_request_error', param: '', code: '' } })
}

function unknownPath(req: Request, res: Response): void {
  res.status(404).json({
    error: {
      message: `Invalid URL (${req.method} ${req.originalUrl.split('?')[0]})`,
      type: 'invalid_request_error',
      param: '',
      code: '',
    },
  })
}
